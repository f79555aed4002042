package survey

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// judgeReading notes whether each target can be read in every served version of its kind.
func (s *Survey) judgeReading(found *observation) {
	all := slices.Clone(s.targets)
	for _, t := range slices.Concat(found.hidden, found.targets) {
		if t.Root != nil {
			all = append(all, t)
		}
	}
	for _, t := range all {
		how := found.Kinds[t.GVK.GroupKind()]
		if how == nil {
			s.note(t, Read, found.notServed(t))
			continue
		}
		for _, version := range how.Versions {
			s.note(t, Read, found.readIn(t, version))
		}
	}
}

// notServed is the outcome of a target whose kind is not served.
func (f *observation) notServed(t *Target) Outcome {
	return f.unlessUndiscovered(t, fmt.Sprintf("the API server serves no version of kind %s", t.GVK.GroupKind()))
}

// versionNotServed is the outcome of a manifest whose version is not served, although its kind is.
func (f *observation) versionNotServed(t *Target) Outcome {
	return f.unlessUndiscovered(t, fmt.Sprintf("the API server does not serve %s, in which the manifest is written; "+
		"it serves %s", t.GVK.GroupVersion(), strings.Join(f.Kinds[t.GVK.GroupKind()].Versions, ", ")))
}

// unlessUndiscovered is the outcome of what is not served. It is Unknown if the discovery of the group failed: then it
// may be served after all.
func (f *observation) unlessUndiscovered(t *Target, words string) Outcome {
	if err := f.Undiscovered[t.GVK.Group]; err != nil {
		return Outcome{Answer: Unknown, Words: fmt.Sprintf("discovery of API group %s failed: %s", t.GVK.Group,
			writes.Words(err))}
	}
	return Outcome{Answer: Bad, Words: words}
}

// readIn reports whether a version of the target can be read. If the list of its kind fails because of some objects,
// only these have an outcome that is bad.
func (f *observation) readIn(t *Target, version string) Outcome {
	gvk := t.GVK.GroupKind().WithVersion(version)
	l := f.lists[gvk]
	switch {
	case l.singly[t.UID] != nil:
		return unread(l.singly[t.UID], fmt.Sprintf("it cannot be read as %s, and so its kind cannot be listed",
			gvk.GroupVersion()))
	case l.objects[t.UID] != nil && (l.err == nil || len(l.singly) > 0):
		return Outcome{Answer: Good}
	case l.err == nil && f.object(t, "") != nil:
		return f.rechecked[gap{gvk, t.UID}]
	case l.err == nil:
		return Outcome{} // it was deleted, which the check "moved" reports
	}
	return unlisted(l.err, gvk)
}

// unlisted is the outcome of an error of a kind's list.
func unlisted(err error, gvk schema.GroupVersionKind) Outcome {
	return unread(err, fmt.Sprintf("objects of kind %s cannot be listed as %s", gvk.Kind, gvk.GroupVersion()))
}

// unread is the outcome of an error when reading. It is Bad if the API server answered that it cannot do it.
func unread(err error, what string) Outcome {
	o := Outcome{Answer: Unknown, Words: what + ": " + writes.Words(err)}
	if unlistable(err) {
		o.Answer = Bad
	}
	return o
}
