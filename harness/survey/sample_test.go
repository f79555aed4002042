package survey

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Dry runs are sent for all given objects, and for one dependent of each owner and set of fields.
func TestSampled(t *testing.T) {
	a, b := given("a"), given("b")
	targets := []*Target{a, b}
	made := func(name string, root *Target, owner string, spec map[string]any) {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": map[string]any{name: "x"},
		}}
		targets = append(targets, &Target{
			GVK: o.GroupVersionKind(), Name: name, Root: root, template: templateOf(o, owner),
		})
	}
	for i := range 5 {
		made(fmt.Sprint("a", i), a, "old", map[string]any{"x": fmt.Sprint(i)})
	}
	made("new", a, "new", map[string]any{"x": "1"})
	made("more", a, "new", map[string]any{"x": "1", "y": "1"})
	made("b0", b, "b", map[string]any{"x": "1"})
	s := &Survey{targets: []*Target{a, b}}
	var names []string
	for _, one := range s.sampled(targets) {
		names = append(names, one.Name)
	}
	if got, want := strings.Join(names, " "), "a b a0 new more b0"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// With --sample N, dry runs are sent for N objects of each kind and shape, and for their dependents. The choice is the
// same at each state.
func TestSampleOfAShape(t *testing.T) {
	shaped := func(name string, content map[string]any) *Target {
		o := given(name)
		for key, value := range content {
			o.Given.Content.Object[key] = value
		}
		return o
	}
	a, b, c := shaped("a", map[string]any{"data": map[string]any{"x": "1"}}),
		shaped("b", map[string]any{"data": map[string]any{"y": "2"}}), shaped("c", map[string]any{
			"data": map[string]any{},
			"spec": map[string]any{"p": "3"},
		})
	pod := &Target{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: "pod", Root: b}
	s := &Survey{options: Options{Sample: 1}, targets: []*Target{a, b}}
	names := func(targets ...*Target) string {
		var all []string
		for _, one := range s.sampled(targets) {
			all = append(all, one.Name)
		}
		return strings.Join(all, " ")
	}
	if got := names(a, b, pod); got != "a" {
		t.Errorf("asked %q, want a alone: b has the same shape", got)
	}
	s.targets = []*Target{c, b, a}
	if got := names(c, b, pod, a); got != "c a" {
		t.Errorf("asked %q, want c, which is new and has another shape, and a again", got)
	}
	if s.Sampled() != 2 {
		t.Errorf("%d sampled", s.Sampled())
	}
}

// With a limit of N, dry runs are sent for the dependents of N objects of a kind. The choice of these objects is the
// same at each state, whatever the dependents' names are.
func TestSampleOfDependents(t *testing.T) {
	a, b, c := given("a"), given("b"), given("c")
	pod := func(name string, root *Target) *Target {
		return &Target{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: name, Root: root, template: name}
	}
	job := &Target{
		GVK: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, Name: "job", Root: c,
		template: "job",
	}
	s := &Survey{
		options: Options{Dependents: map[schema.GroupKind]int{{Kind: "Pod"}: 1}}, targets: []*Target{a, b, c},
	}
	asked := func(targets ...*Target) string {
		var all []string
		for _, one := range s.sampled(targets) {
			all = append(all, one.Name)
		}
		return strings.Join(all, " ")
	}
	if got, want := asked(a, b, c, job, pod("b1", b), pod("c1", c)), "a b c job b1"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if got, want := asked(a, b, c, job, pod("a1", a), pod("b2", b)), "a b c job b2"; got != want {
		t.Errorf("asked %q at the next state, want %q", got, want)
	}
}
