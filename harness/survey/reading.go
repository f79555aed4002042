package survey

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// judgeReading notes whether each target can be read in every served version of its kind.
func (s *Survey) judgeReading(found *sight) {
	for _, t := range s.targets {
		how := found.Kinds[t.GVK.GroupKind()]
		if how != nil {
			continue
		}
		outcome := Outcome{Answer: Bad, Words: fmt.Sprintf("the API server serves no version of kind %s", t.GVK.GroupKind())}
		if err := found.Undiscovered[t.GVK.Group]; err != nil {
			outcome = Outcome{Answer: Unknown, Words: fmt.Sprintf("discovery of API group %s failed: %s",
				t.GVK.Group, writes.Words(err))}
		}
		s.note(t, Read, outcome)
	}
	for _, t := range s.targets {
		how := found.Kinds[t.GVK.GroupKind()]
		if how == nil {
			continue
		}
		for _, version := range how.Versions {
			s.note(t, Read, found.readIn(t, version))
		}
	}
	for _, t := range found.targets {
		if t.Root == nil {
			continue
		}
		for _, version := range found.Kinds[t.GVK.GroupKind()].Versions {
			s.note(t, Read, found.readIn(t, version))
		}
	}
}

// readIn reports whether a version of the target can be read. If the list of its kind fails because of some objects,
// only these have an outcome that is bad.
func (f *sight) readIn(t *Target, version string) Outcome {
	gvk := t.GVK.GroupKind().WithVersion(version)
	l := f.lists[gvk]
	switch {
	case l.singly[t.UID] != nil:
		return unread(l.singly[t.UID], fmt.Sprintf("it cannot be read as %s, and so its kind cannot be listed",
			gvk.GroupVersion()))
	case l.objects[t.UID] != nil && (l.err == nil || len(l.singly) > 0):
		return Outcome{Answer: Good}
	case l.err == nil && f.object(t, "") != nil:
		return Outcome{Answer: Bad, Words: fmt.Sprintf("the list of %s does not have it, that of another version does",
			gvk.GroupVersion())}
	case l.err == nil:
		return Outcome{} // it was deleted, which the check "moved" reports
	}
	return unread(l.err, fmt.Sprintf("objects of kind %s cannot be listed as %s", t.GVK.Kind, gvk.GroupVersion()))
}

// unread is the outcome of an error when reading. It is Bad if the API server answered that it cannot do it.
func unread(err error, what string) Outcome {
	o := Outcome{Answer: Unknown, Words: what + ": " + writes.Words(err)}
	if unlistable(err) {
		o.Answer = Bad
	}
	return o
}
