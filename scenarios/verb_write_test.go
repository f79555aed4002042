package scenarios

import (
	"reflect"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func TestEachWayIsAStepOfItsOwn(t *testing.T) {
	set, err := LoadBytes("each.yaml", []byte(`
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: each}
spec:
  cluster: {version: "1.36"}
  steps:
  - name: rejected
    cases: [{name: low, port: 0}, {name: high, port: 70000}]
    each: [create, apply, update, patch]
    write:
      apiVersion: v1
      kind: Service
      metadata: {name: new, namespace: other, labels: {a: b}}
      spec: {ports: [{port: "${case.port}"}]}
    existing: kept
    expect: {rejected: {by: schema}}
  - each: [patch]
    write: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${namespace}"}, data: {k: v}}
`))
	golden.Must(t, err)
	steps := set.Scenarios[0].Spec.Steps
	object := func(name string, port int64) Object {
		return Object{
			"apiVersion": "v1", "kind": "Service",
			"metadata": map[string]any{"name": name, "namespace": "other", "labels": map[string]any{"a": "b"}},
			"spec":     map[string]any{"ports": []any{map[string]any{"port": port}}},
		}
	}
	patch := func(port int64) *Patch {
		return &Patch{
			ObjectReference: ObjectReference{APIVersion: "v1", Kind: "Service", Name: "kept", Namespace: "other"},
			Merge: map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
				"spec":     map[string]any{"ports": []any{map[string]any{"port": port}}},
			},
		}
	}
	for i, want := range []struct {
		title string
		step  Step
	}{
		{"rejected [low, create]", Step{Create: object("new", 0)}},
		{"rejected [low, apply]", Step{Apply: object("new", 0)}},
		{"rejected [low, update]", Step{Update: object("kept", 0)}},
		{"rejected [low, patch]", Step{Patch: patch(0)}},
		{"rejected [high, create]", Step{Create: object("new", 70000)}},
		{"rejected [high, apply]", Step{Apply: object("new", 70000)}},
		{"rejected [high, update]", Step{Update: object("kept", 70000)}},
		{"rejected [high, patch]", Step{Patch: patch(70000)}},
		{"patch ConfigMap/${namespace} [patch]", Step{Patch: &Patch{
			ObjectReference: ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "${namespace}"},
			Merge:           map[string]any{"data": map[string]any{"k": "v"}},
		}}},
	} {
		got := steps[i]
		if got.Title() != want.title {
			t.Errorf("step %d is called %q, want %q", i+1, got.Title(), want.title)
		}
		if i < 8 && (got.Expect == nil || got.Expect.Rejected.By != BySchema) {
			t.Errorf("%s expects %+v", got.Title(), got.Expect)
		}
		written := Step{Create: got.Create, Apply: got.Apply, Update: got.Update, Patch: got.Patch}
		if !reflect.DeepEqual(written, want.step) {
			t.Errorf("%s is\n%+v, want\n%+v", got.Title(), written, want.step)
		}
	}
	if len(steps) != 9 || steps[0].Write != nil || steps[0].Each != nil || steps[0].Existing != "" {
		t.Errorf("%d steps, the first is %+v", len(steps), steps[0])
	}
}

func TestCopiesOfParallel(t *testing.T) {
	set, err := LoadBytes("parallel.yaml", []byte(`
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: parallel}
spec:
  cluster: {version: "1.36"}
  steps:
  - cases: [{x: one}]
    parallel:
      count: 2
      steps:
      - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${case.x}-${index}-${namespace}"}}
      - evict: {name: "${index + 5}"}
      expect: {accepted: 1}
`))
	golden.Must(t, err)
	step := set.Scenarios[0].Spec.Steps[0]
	if step.Title() != "parallel create ConfigMap/one-${index}-${namespace} and 3 more [one]" {
		t.Errorf("called %q", step.Title())
	}
	e := expressions.New()
	whole, err := expressions.Evaluated(e, step, expressions.Variables{"namespace": "ns"})
	if err != nil || whole.Parallel.Steps[1].Evict.Name != "${index + 5}" {
		t.Errorf("the step as a whole is %+v: %v", whole.Parallel.Steps[1], err)
	}
	var names []string
	for _, copied := range step.Parallel.Copies() {
		one, err := expressions.Evaluated(e, copied, expressions.Variables{"namespace": "ns", "index": *copied.Index})
		golden.Must(t, err)
		name := ""
		if one.Evict != nil {
			name = one.Evict.Name
		} else {
			name, _ = one.Create["metadata"].(map[string]any)["name"].(string)
		}
		names = append(names, name)
		if one.Position.Line != 12 && one.Position.Line != 13 {
			t.Errorf("%s is in line %d", name, one.Position.Line)
		}
	}
	if want := []string{"one-0-ns", "5", "one-1-ns", "6"}; !reflect.DeepEqual(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
