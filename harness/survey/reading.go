package survey

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// judgeReading says of each target whether it is read in every version that its kind is served in.
func (s *Survey) judgeReading(found *sight) {
	for _, t := range s.targets {
		how := found.kinds[t.GVK.GroupKind()]
		if how != nil {
			continue
		}
		outcome := Outcome{Answer: Bad, Words: fmt.Sprintf("the API server serves no version of kind %s", t.GVK.GroupKind())}
		if err := found.undiscovered[t.GVK.Group]; err != nil {
			outcome = Outcome{Answer: Unknown, Words: fmt.Sprintf("the API server cannot tell which kinds of %s it serves: %s",
				t.GVK.Group, wordsOf(err))}
		}
		s.note(t, Read, outcome)
	}
	for _, t := range s.targets {
		how := found.kinds[t.GVK.GroupKind()]
		if how == nil {
			continue
		}
		for _, version := range how.versions {
			s.note(t, Read, found.readIn(t, version))
		}
	}
	for _, t := range found.targets {
		if t.Root == nil {
			continue
		}
		for _, version := range found.kinds[t.GVK.GroupKind()].versions {
			s.note(t, Read, found.readIn(t, version))
		}
	}
}

// undecodable says whether the API server cannot make anything of what is stored. A newer one calls that a storage that
// is not ready yet, with 429, and says so for good.
func undecodable(err error) bool {
	words := wordsOf(err)
	return strings.Contains(words, "no kind \"") && strings.Contains(words, "is registered for version") ||
		strings.Contains(words, "unable to decode")
}

// readIn says whether the target is in the list of a version.
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
		return Outcome{} // it is gone: that is a move
	case writes.Judge(l.err) == writes.Refused, serverError(l.err), undecodable(l.err):
		return Outcome{Answer: Bad, Words: fmt.Sprintf("objects of kind %s cannot be listed as %s: %s", t.GVK.Kind,
			gvk.GroupVersion(), wordsOf(l.err))}
	default:
		return Outcome{Answer: Unknown, Words: fmt.Sprintf("listing objects of kind %s as %s: %s", t.GVK.Kind,
			gvk.GroupVersion(), wordsOf(l.err))}
	}
}
