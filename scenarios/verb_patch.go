package scenarios

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func patchVerb() verb {
	return verb{
		name: "patch", write: true, sends: objectFields, changes: true,
		about:   func(s *Step) string { return s.Patch.subject() },
		target:  func(s *Step) ObjectReference { return s.Patch.ObjectReference },
		check:   func(v *validator, c stepCheck) { checkPatch(v, c.step.Patch, c.node) },
		results: []string{"object"},
		way:     patchOf,
	}
}

// Patch changes a part of an object. Exactly one of merge, json and strategic is set.
type Patch struct {
	ObjectReference `json:",inline"`
	// Subresource to patch: status, scale, ...
	Subresource string `json:"subresource,omitempty" fixed:"true"`
	// Merge is a JSON merge patch (RFC 7386).
	Merge map[string]any `json:"merge,omitempty"`
	// JSON is a JSON patch (RFC 6902): a list of operations.
	JSON []map[string]any `json:"json,omitempty"`
	// Strategic is a strategic merge patch.
	Strategic map[string]any `json:"strategic,omitempty"`
}

func checkPatch(v *validator, p *Patch, n *yamltree.Node) {
	v.objectReference(p.ObjectReference, n)
	v.present(p.Name, n, "name")
	set := 0
	for _, name := range []string{"merge", "json", "strategic"} {
		if n.Get(name) != nil {
			set++
		}
	}
	if set != 1 {
		v.At(n, "", "a patch has exactly one of merge, json and strategic; this one has %d", set)
	}
	for i, op := range p.JSON {
		checkOperation(v, op, n.At("json", i))
	}
}

// checkOperation checks one operation of a JSON patch.
func checkOperation(v *validator, op map[string]any, n *yamltree.Node) {
	needs := map[string][]string{
		"add": {"value"}, "replace": {"value"}, "test": {"value"}, "remove": nil, "move": {"from"}, "copy": {"from"},
	}
	name, _ := op["op"].(string)
	more, ok := needs[name]
	if !ok {
		v.At(n.At("op"), words.Suggest(name, []string{"add", "replace", "test", "remove", "move", "copy"}, "there are"),
			"there is no JSON patch operation %q", words.Short(name))
		return
	}
	for _, field := range append([]string{"path"}, more...) {
		if _, there := op[field]; !there {
			v.At(n, "", "the JSON patch operation %s needs %s", name, field)
		}
	}
	for _, field := range clusters.SortedKeys(op) {
		value := op[field]
		if !slices.Contains([]string{"op", "path", "from", "value"}, field) {
			v.At(n.Key(field), words.Suggest(field, []string{"op", "path", "from", "value"}, "there are"),
				"a JSON patch operation has no field %q", words.Short(field))
		}
		if field != "path" && field != "from" {
			continue
		}
		if text, isText := value.(string); !isText || text != "" && text[0] != '/' && !strings.HasPrefix(text, "${") {
			v.At(n.At(field), "such as /metadata/labels/app", "%s of a JSON patch must be a JSON pointer", field)
		}
	}
}

// patchOf returns a merge patch with the content of an object. It patches the object named existing or, if that is nil,
// the object itself.
func patchOf(object, existing *yamltree.Node) *yamltree.Node {
	metadata := object.Get("metadata")
	patch := object.Like(yamltree.Mapping)
	add := func(key string, value *yamltree.Node) {
		if value != nil {
			patch.Entries = append(patch.Entries, yamltree.Entry{Key: keyNode(object, key), Value: value})
		}
	}
	add("apiVersion", object.Get("apiVersion"))
	add("kind", object.Get("kind"))
	if existing == nil {
		existing = metadata.Get("name")
	}
	add("name", existing)
	add("namespace", metadata.Get("namespace"))
	add("merge", mergeOf(object))
	return patch
}

// mergeOf returns the content of a merge patch: the object without the fields that identify it.
func mergeOf(object *yamltree.Node) *yamltree.Node {
	merge := withoutKey(withoutKey(object, "apiVersion"), "kind")
	metadata := object.Get("metadata")
	if metadata == nil || metadata.Kind != yamltree.Mapping {
		return merge
	}
	for _, name := range []string{"name", "generateName", "namespace"} {
		metadata = withoutKey(metadata, name)
	}
	if len(metadata.Entries) == 0 {
		return withoutKey(merge, "metadata")
	}
	return withEntry(merge, "metadata", metadata)
}
