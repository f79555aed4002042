package scenarios

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

func patchVerb() verb {
	return verb{
		name: "patch", write: true, sends: objectFields, changes: true,
		about:   func(s *Step) string { return s.Patch.subject() },
		target:  func(s *Step) ObjectReference { return s.Patch.ObjectReference },
		check:   func(v *validator, c stepCheck) { v.patch(c.step.Patch, c.node) },
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

func (v *validator) patch(p *Patch, n *node) {
	v.objectReference(p.ObjectReference, n)
	v.present(p.Name, n, "name")
	set := 0
	for _, name := range []string{"merge", "json", "strategic"} {
		if n.get(name) != nil {
			set++
		}
	}
	if set != 1 {
		v.at(n, "", "a patch has exactly one of merge, json and strategic; this one has %d", set)
	}
	for i, op := range p.JSON {
		v.operation(op, n.at("json", i))
	}
}

// operation checks one operation of a JSON patch.
func (v *validator) operation(op map[string]any, n *node) {
	needs := map[string][]string{
		"add": {"value"}, "replace": {"value"}, "test": {"value"}, "remove": nil, "move": {"from"}, "copy": {"from"},
	}
	name, _ := op["op"].(string)
	more, ok := needs[name]
	if !ok {
		v.at(n.at("op"), suggest(name, []string{"add", "replace", "test", "remove", "move", "copy"}, "there are"),
			"no operation of a JSON patch is called %q", short(name))
		return
	}
	for _, field := range append([]string{"path"}, more...) {
		if _, there := op[field]; !there {
			v.at(n, "", "the operation %s of a JSON patch needs %s", name, field)
		}
	}
	for _, field := range clusters.SortedKeys(op) {
		value := op[field]
		if !slices.Contains([]string{"op", "path", "from", "value"}, field) {
			v.at(n.key(field), suggest(field, []string{"op", "path", "from", "value"}, "there are"),
				"an operation of a JSON patch has no field %q", short(field))
		}
		if field != "path" && field != "from" {
			continue
		}
		if text, isText := value.(string); !isText || text != "" && text[0] != '/' && !strings.HasPrefix(text, "${") {
			v.at(n.at(field), "such as /metadata/labels/app", "%s of a JSON patch must be a JSON pointer", field)
		}
	}
}

// patchOf is a merge patch of all that is in an object, for the object itself or for one that exists.
func patchOf(object, existing *node) *node {
	metadata := object.get("metadata")
	patch := object.like(mapping)
	add := func(key string, value *node) {
		if value != nil {
			patch.entries = append(patch.entries, entry{key: object.keyNode(key), value: value})
		}
	}
	add("apiVersion", object.get("apiVersion"))
	add("kind", object.get("kind"))
	if existing == nil {
		existing = metadata.get("name")
	}
	add("name", existing)
	add("namespace", metadata.get("namespace"))
	add("merge", mergeOf(object))
	return patch
}

// mergeOf is what a merge patch has of an object: all but what names it.
func mergeOf(object *node) *node {
	merge := withoutKey(withoutKey(object, "apiVersion"), "kind")
	metadata := object.get("metadata")
	if metadata == nil || metadata.kind != mapping {
		return merge
	}
	for _, name := range []string{"name", "generateName", "namespace"} {
		metadata = withoutKey(metadata, name)
	}
	if len(metadata.entries) == 0 {
		return withoutKey(merge, "metadata")
	}
	return withEntry(merge, "metadata", metadata)
}
