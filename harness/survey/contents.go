package survey

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/rehearse-dev/rehearse/harness/matching"
)

// contents are the JSON of an object in each version, without the fields that the API server keeps for itself. They are
// kept as text, because there are thousands of objects and few of them ever change.
type contents map[string][]byte

// own is the part of an object that people and controllers write. It shares its values with the object.
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

// statusOf is an object's status, with its kind and version.
func statusOf(o *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "status": o.Object["status"],
	}
}

// kept reports whether an object still has all its content after a write that does not mention it. A write may add
// defaults.
func kept(kind, write string, before, after map[string]any) Outcome {
	o := compared(kind, before, after, noDefaults)
	if o.Answer != Bad {
		return Outcome{Answer: Good}
	}
	var words []string // each part names the write: parts of several writes are sorted together
	for part := range strings.SplitSeq(o.Words, betweenParts) {
		words = append(words, write+" changes "+part)
	}
	o.Words = strings.Join(words, betweenParts)
	return o
}

// noDefaults is for contents of one version: a missing field is lost.
func noDefaults(string) bool { return false }

// judgeContents compares each given object, in every version, with its content when it was first seen.
func (s *Survey) judgeContents(found *observation) {
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
				s.note(t, Content, Outcome{Answer: Unknown, Words: "encode it as JSON: " + err.Error()})
			case !known:
				before[version] = text
			case has:
				s.note(t, Content, comparedWith(t.GVK.Kind, was, text, now, defaults(s.former[t], t, version, was)))
			}
		}
	}
}

// defaults returns the fields that only the version set in which an object was recreated: neither the manifest nor the
// former object has them. An older version may not know them.
func defaults(former contents, t *Target, version string, was []byte) func(path string) bool {
	return func(path string) bool {
		var first, before map[string]any
		text, recreated := former[version]
		if !recreated || utiljson.Unmarshal(text, &first) != nil || utiljson.Unmarshal(was, &before) != nil {
			return false
		}
		added := func(to map[string]any) bool {
			return slices.ContainsFunc(matching.Changes(to, before), func(c matching.Change) bool {
				return c.Path == path && c.Old == nil
			})
		}
		return added(first) && added(own(t.Given.Content))
	}
}

// comparedWith reports whether an object's content is unchanged. was is its earlier JSON; text is the JSON of now.
// defaults reports whether nobody has set a field that is absent now.
func comparedWith(kind string, was, text []byte, now map[string]any, defaults func(path string) bool) Outcome {
	if bytes.Equal(was, text) {
		return Outcome{Answer: Good}
	}
	var before map[string]any
	if err := utiljson.Unmarshal(was, &before); err != nil {
		return Outcome{Answer: Unknown, Words: "decode its earlier content: " + err.Error()}
	}
	return compared(kind, before, now, defaults)
}

// longer reports whether a list only has more elements than before: the old ones are there, in their order.
func longer(before, after any) bool {
	old, isList := before.([]any)
	now, _ := after.([]any)
	if !isList {
		return false
	}
	for _, element := range now {
		if len(old) > 0 && reflect.DeepEqual(old[0], element) {
			old = old[1:]
		}
	}
	return len(old) == 0
}

// compared reports whether an object lost anything, or changed. That a default is absent is a change.
func compared(kind string, before, after map[string]any, defaults func(path string) bool) Outcome {
	var lost, added, lostPaths, addedPaths []string
	for _, change := range matching.Changes(before, after) {
		if kind == "PersistentVolumeClaim" && binds(change) {
			continue
		}
		text := change.Redacted().String()
		if change.Confidential(kind) {
			text = change.Path + " is not what it was"
		}
		if change.Old == nil || change.Path == "metadata.generation" || longer(change.Old, change.New) ||
			change.New == nil && defaults(change.Path) {
			added, addedPaths = append(added, text), append(addedPaths, strings.ReplaceAll(change.Path, " ", ""))
		} else {
			lost, lostPaths = append(lost, text), append(lostPaths, strings.ReplaceAll(change.Path, " ", ""))
		}
	}
	switch {
	case len(lost) > 0:
		return Outcome{Answer: Bad, Words: strings.Join(append(lost, added...), "; "), Class: strings.Join(lostPaths, " ")}
	case len(added) > 0:
		return Outcome{Answer: Changed, Words: strings.Join(added, "; "), Class: strings.Join(addedPaths, " ")}
	}
	return Outcome{Answer: Good}
}

// binds reports whether a change of a claim is that it was bound: it may wait for its first pod, such as that of a
// CronJob.
func binds(change matching.Change) bool {
	switch {
	case change.Old != nil:
		return false
	case change.Path == "metadata.annotations":
		annotations, _ := change.New.(map[string]any)
		for name := range annotations {
			if !ofBinding(name) {
				return false
			}
		}
		return true
	}
	return change.Path == "spec.volumeName" || ofBinding(change.Path)
}

// ofBinding reports whether an annotation, or its path, is one that controllers add to a claim when they bind it.
func ofBinding(annotation string) bool {
	return slices.ContainsFunc([]string{
		"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
		"volume.kubernetes.io/selected-node", "kubernetes.io/storage-provisioner",
	}, func(name string) bool { return strings.Contains(annotation, name) })
}
