package survey

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/rehearse-dev/rehearse/harness/matching"
)

// contents of an object in each version as JSON, without what the API server keeps for itself: thousands of objects are
// kept, and few of them ever read differently.
type contents map[string][]byte

// own is what people and controllers write of an object. It shares what it has with the object.
func own(o *unstructured.Unstructured) map[string]any {
	shown := maps.Clone(o.Object)
	delete(shown, "status")
	if metadata, ok := shown["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, field := range []string{"resourceVersion", "managedFields", "selfLink"} {
			delete(metadata, field)
		}
		shown["metadata"] = metadata
	}
	return shown
}

// statusOf an object, and what kind it is of.
func statusOf(o *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "status": o.Object["status"],
	}
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
		before, known := s.baseline[t]
		if !known {
			before = contents{}
			s.baseline[t] = before
			s.note(t, Content, Outcome{Answer: Good})
		}
		for _, version := range found.Kinds[t.GVK.GroupKind()].Versions {
			o := found.object(t, version)
			if o == nil {
				continue
			}
			now := own(o)
			text, err := json.Marshal(now)
			switch was, has := before[version]; {
			case err != nil:
				s.note(t, Content, Outcome{Answer: Unknown, Words: "it cannot be written as JSON: " + err.Error()})
			case !known:
				before[version] = text
			case has:
				s.note(t, Content, comparedWith(t.GVK.Kind, was, text, now))
			}
		}
	}
}

// comparedWith says whether what was kept of an object is what it is now, of which the text is given, too.
func comparedWith(kind string, was, text []byte, now map[string]any) Outcome {
	if bytes.Equal(was, text) {
		return Outcome{Answer: Good}
	}
	var before map[string]any
	if err := utiljson.Unmarshal(was, &before); err != nil {
		return Outcome{Answer: Unknown, Words: "what it was cannot be read: " + err.Error()}
	}
	return compared(kind, before, now)
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
