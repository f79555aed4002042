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

// readIn reports whether the list of a version contains the target.
func (f *sight) readIn(t *Target, version string) Outcome {
	gvk := t.GVK.GroupKind().WithVersion(version)
	l := f.lists[gvk]
	switch {
	case l.err == nil && l.objects[t.UID] != nil:
		return Outcome{Answer: Good}
	case l.err == nil && f.object(t, "") != nil:
		return Outcome{Answer: Bad, Words: fmt.Sprintf("the list of %s does not have it, that of another version does",
			gvk.GroupVersion())}
	case l.err == nil:
		return Outcome{} // it was deleted, which the check "moved" reports
	case writes.Judge(l.err) == writes.Rejected, serverError(l.err), writes.Undecodable(l.err):
		return Outcome{Answer: Bad, Words: fmt.Sprintf("objects of kind %s cannot be listed as %s: %s", t.GVK.Kind,
			gvk.GroupVersion(), writes.Words(l.err))}
	default:
		return Outcome{Answer: Unknown, Words: fmt.Sprintf("list objects of kind %s as %s: %s", t.GVK.Kind,
			gvk.GroupVersion(), writes.Words(l.err))}
	}
}
