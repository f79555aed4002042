package survey

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sampled are the targets of dry runs: of the given objects, as many of one kind and shape as the options say; of their
// dependents, one of each owner and shape. The choice among given objects is the same at all states.
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

// dependent is all dependents of one kind of a given object.
type dependent struct {
	root *Target
	kind schema.GroupKind
}

// sampleDependents chooses among the dependents that did not exist at an earlier state.
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

// templateOf is equal for objects of one kind, version and owner that have the same fields, status aside: they come
// from one template.
func templateOf(o *unstructured.Unstructured, owner string) string {
	made := maps.Clone(o.Object)
	delete(made, "status")
	return owner + " " + shapeOf(o.GroupVersionKind(), made)
}

// sampleGiven chooses among the given objects that did not exist at an earlier state.
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

// Sampled is the number of given objects that dry runs are sent for.
func (s *Survey) Sampled() int {
	n := 0
	for _, asked := range s.asked {
		if asked {
			n++
		}
	}
	return n
}

// shapeOf is equal for objects of one kind and version that have the same fields. The verdict on one of them stands for
// all.
func shapeOf(gvk schema.GroupVersionKind, content map[string]any) string {
	fields := map[string]bool{}
	fieldsIn(content, "", fields)
	return gvk.String() + " " + strings.Join(slices.Sorted(maps.Keys(fields)), " ")
}

// freeKeys are the maps whose keys people choose. These keys are not part of a shape.
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
