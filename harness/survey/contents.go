package survey

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/matching"
)

// contents of an object in each version, without what the API server keeps for itself.
type contents map[string]map[string]any

// own is what people and controllers write of an object.
func own(o *unstructured.Unstructured) map[string]any {
	copied := o.DeepCopy().Object
	delete(copied, "status")
	if metadata, ok := copied["metadata"].(map[string]any); ok {
		for _, field := range []string{"resourceVersion", "managedFields", "selfLink"} {
			delete(metadata, field)
		}
	}
	return copied
}

// statusOf an object, under its own name.
func statusOf(o *unstructured.Unstructured) map[string]any {
	return map[string]any{"status": o.DeepCopy().Object["status"]}
}

// kept says whether a write that mentions none of it kept all that an object had. A write may add defaults.
func kept(kind, write string, before, after map[string]any) Outcome {
	o := compared(kind, before, after)
	if o.Answer != Bad {
		return Outcome{Answer: Good}
	}
	o.Words = write + " changes " + o.Words
	return o
}

// judgeContents compares each given object, in every version, with what it was when it was first seen.
func (s *Survey) judgeContents(found *sight) {
	for _, t := range found.targets {
		if t.Root != nil {
			continue
		}
		now := contents{}
		for _, version := range found.Kinds[t.GVK.GroupKind()].Versions {
			if o := found.object(t, version); o != nil {
				now[version] = own(o)
			}
		}
		before, known := s.baseline[t]
		if !known {
			s.baseline[t] = now
			s.note(t, Content, Outcome{Answer: Good})
			continue
		}
		for version, content := range now {
			if was, ok := before[version]; ok {
				s.note(t, Content, compared(t.GVK.Kind, was, content))
			}
		}
	}
}

// compared says whether anything of an object is lost, or is different from before.
func compared(kind string, before, after map[string]any) Outcome {
	var lost, added, paths []string
	for _, change := range matching.Changes(before, after) {
		text := change.String()
		paths = append(paths, change.Path)
		if change.Confidential(kind) {
			text = change.Path + " is not what it was"
		}
		if change.Old == nil || change.Path == "metadata.generation" {
			added = append(added, text)
		} else {
			lost = append(lost, text)
		}
	}
	switch {
	case len(lost) > 0:
		return Outcome{Answer: Bad, Words: strings.Join(append(lost, added...), "; "), Class: strings.Join(paths, " ")}
	case len(added) > 0:
		return Outcome{Answer: Changed, Words: strings.Join(added, "; "), Class: strings.Join(paths, " ")}
	}
	return Outcome{Answer: Good}
}
