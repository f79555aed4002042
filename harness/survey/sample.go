package survey

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sampled returns the targets of dry runs. Of the given objects of one kind and shape, it selects as many as the
// options allow. Of the dependents of one kind and shape, it selects one for each owner, within the limits of the
// options. The given objects that are selected once are selected at all later states.
func (s *Survey) sampled(targets []*Target) []*Target {
	s.sampleGiven()
	s.sampleDependents(targets)
	taken := map[string]bool{}
	var kept []*Target
	for _, t := range targets {
		if s.asked[t.root()] && (t.Root == nil || s.dependents[dependent{t.Root, t.GVK.GroupKind()}] && !taken[t.template]) {
			kept = append(kept, t)
		}
		taken[t.template] = true
	}
	return kept
}

// dependent stands for all dependents of one kind that belong to a given object.
type dependent struct {
	root *Target
	kind schema.GroupKind
}

// sampleDependents decides which dependents are selected. It decides only about dependents that did not exist at an
// earlier state.
func (s *Survey) sampleDependents(targets []*Target) {
	type kinds struct{ root, kind schema.GroupKind }
	taken := map[kinds]int{}
	if s.dependents == nil {
		s.dependents = map[dependent]bool{}
	}
	for d, asked := range s.dependents {
		if asked {
			taken[kinds{d.root.GVK.GroupKind(), d.kind}]++
		}
	}
	for _, t := range targets {
		d := dependent{t.Root, t.GVK.GroupKind()}
		if _, known := s.dependents[d]; known || t.Root == nil {
			continue
		}
		of := kinds{d.root.GVK.GroupKind(), d.kind}
		most, limited := s.options.Dependents[d.kind]
		s.dependents[d] = !limited || taken[of] < most
		if s.dependents[d] {
			taken[of]++
		}
	}
}

// templateOf returns a text that is equal for objects with the same kind, version, owner and fields, without the
// status. Such objects come from one template.
func templateOf(o *unstructured.Unstructured, owner string) string {
	made := maps.Clone(o.Object)
	delete(made, "status")
	return owner + " " + shapeOf(o.GroupVersionKind(), made)
}

// sampleGiven decides which given objects are selected. It decides only about objects that did not exist at an earlier
// state.
func (s *Survey) sampleGiven() {
	known := s.asked
	s.asked = make(map[*Target]bool, len(s.targets))
	taken := map[string]int{}
	for _, t := range s.targets {
		shape := ""
		if s.options.Sample > 0 {
			shape = shapeOf(t.GVK, t.Given.Content.Object)
		}
		was, isKnown := known[t]
		s.asked[t] = was || !isKnown && (s.options.Sample == 0 || taken[shape] < s.options.Sample)
		if s.asked[t] {
			taken[shape]++
		}
	}
}

// Sampled returns the number of given objects for which dry runs are sent.
func (s *Survey) Sampled() int {
	n := 0
	for _, asked := range s.asked {
		if asked {
			n++
		}
	}
	return n
}

// shapeOf returns a text that is equal for objects with the same kind, version and fields. The verdict on one of them
// applies to all.
func shapeOf(gvk schema.GroupVersionKind, content map[string]any) string {
	fields := map[string]bool{}
	fieldsIn(content, "", fields)
	return gvk.String() + " " + strings.Join(slices.Sorted(maps.Keys(fields)), " ")
}

// freeKeys are the names of maps whose keys users choose. These keys do not belong to the shape.
func freeKeys() []string {
	return []string{
		"labels", "annotations", "data", "stringData", "binaryData", "matchLabels", "nodeSelector", "selector",
		"managedFields",
	}
}

func fieldsIn(value any, at string, fields map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			path := at + "." + name
			fields[path] = true
			if !slices.Contains(freeKeys(), name) {
				fieldsIn(inner, path, fields)
			}
		}
	case []any:
		for _, item := range value {
			fieldsIn(item, at+"[]", fields)
		}
	}
}
