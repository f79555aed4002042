package scenarios

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func variablesOfAStep() expressions.Variables {
	return expressions.Variables{
		"namespace": "ns-1",
		"scenario":  map[string]string{"id": "web-1", "name": "web"},
		"case":      map[string]any{"port": int64(80), "names": []any{"a", "b"}, "none": nil},
		"outputs":   map[string]any{},
	}
}

func TestStep(t *testing.T) {
	yes, one, gate := true, 1, false
	step := Step{
		Name:   "${namespace} stays",
		Create: Object{"metadata": map[string]any{"name": "${scenario.id}", "n": "${case.port}"}},
		Patch: &Patch{
			ObjectReference: ObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p-${case.port}"},
			JSON:            []map[string]any{{"value": "${case.names}"}},
		},
		Delete: &Delete{Selector: map[string]string{"app": "${scenario.name}"}, Wait: &yes},
		Transition: &Transition{Change: clusters.Change{Version: "${namespace}", FeatureGates: map[string]*bool{
			"A": nil,
			"B": &gate,
		}}},
		Eventually: &Assertion{
			Match: map[string]any{"a": "${namespace}"}, CEL: "object.x == '${namespace}'",
			Count: &Count{Min: &one}, Within: Duration(5),
		},
		Metric: &Metric{
			Since: "${namespace}", Labels: map[string]string{"n": "${namespace}"},
			Expect: &MetricExpect{CEL: "${namespace}"},
		},
		Command: &Command{
			Run: []string{"a", "${namespace}"}, Env: map[string]string{"N": "${case.port}"},
			Expect: &CommandExpect{Stdout: &Text{Contains: "${namespace}"}},
		},
		Expect: &Expect{
			Rejected: &Rejection{
				Code: 422, Field: "${namespace}", Message: &Text{Matches: "^${namespace}$"},
				Causes: []Cause{{Field: "${namespace}"}},
			},
			Warnings: []Text{{Equals: "${namespace}"}},
		},
		Outputs:  map[string]string{"x": "'${namespace}'"},
		Position: Position{File: "f", Line: 1, Column: 2}, Case: map[string]any{"x": "${namespace}"}, CaseName: "${x}",
	}
	got, err := expressions.Evaluated(expressions.New(), step, variablesOfAStep())
	golden.Must(t, err)
	want := step
	want.Create = Object{"metadata": map[string]any{"name": "web-1", "n": int64(80)}}
	want.Patch = &Patch{
		ObjectReference: ObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p-80"},
		JSON:            []map[string]any{{"value": []any{"a", "b"}}},
	}
	want.Delete = &Delete{Selector: map[string]string{"app": "web"}, Wait: &yes}
	want.Eventually = &Assertion{
		Match: map[string]any{"a": "ns-1"}, CEL: step.Eventually.CEL, Count: &Count{Min: &one},
		Within: Duration(5),
	}
	want.Metric = &Metric{
		Since: "${namespace}", Labels: map[string]string{"n": "ns-1"},
		Expect: &MetricExpect{CEL: "${namespace}"},
	}
	want.Command = &Command{
		Run: []string{"a", "ns-1"}, Env: map[string]string{"N": "80"},
		Expect: &CommandExpect{Stdout: &Text{Contains: "ns-1"}},
	}
	want.Expect = &Expect{
		Rejected: &Rejection{Code: 422, Field: "ns-1", Message: &Text{Matches: "^ns-1$"}, Causes: []Cause{{Field: "ns-1"}}},
		Warnings: []Text{{Equals: "ns-1"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// The copy shares no memory with the original step.
	*got.Delete.Wait, *got.Eventually.Count.Min, *got.Transition.FeatureGates["B"] = false, 7, true
	got.Outputs["x"], got.Expect.Rejected.Message.Matches = "changed", "changed"
	if !*step.Delete.Wait || *step.Eventually.Count.Min != 1 || *step.Transition.FeatureGates["B"] ||
		step.Outputs["x"] == "changed" || step.Expect.Rejected.Message.Matches == "changed" ||
		step.Create["metadata"].(map[string]any)["name"] != "${scenario.id}" {
		t.Errorf("the step itself was changed: %+v", step)
	}
}

func TestStepErrors(t *testing.T) {
	_, err := expressions.Evaluated(expressions.New(), Step{
		Create: Object{"data": map[string]any{"a": "${outputs.missing}"}},
		Patch:  &Patch{ObjectReference: ObjectReference{Name: "${case.none}"}},
	}, variablesOfAStep())
	golden.Error(t, err, "create.data.a: ${outputs.missing}: no such key", "patch.name: is null")
}

// An expression must not make a name or a text empty: that would select everything.
func TestEmptyTextsAreErrors(t *testing.T) {
	vars := expressions.Variables{"outputs": map[string]any{"none": ""}}
	_, err := expressions.Evaluated(expressions.New(), Step{
		Eventually: &Assertion{Selection: Selection{ObjectReference: ObjectReference{Name: "${outputs.none}"}}},
		As:         &User{User: "${outputs.none}"},
		Never:      &Assertion{Selection: Selection{ObjectReference: ObjectReference{Namespace: "${outputs.none}"}}},
		Exec:       &Exec{Pod: "${outputs.none}"},
		Expect:     &Expect{Rejected: &Rejection{Message: &Text{Contains: "${outputs.none}"}}},
		Create:     Object{"data": map[string]any{"a": "${outputs.none}"}},
	}, vars)
	golden.Error(t, err, "eventually.name: the value of ${outputs.none} is empty",
		"as.user: the value of ${outputs.none} is empty", "never.namespace: the value of ${outputs.none} is empty",
		"exec.pod: the value of ${outputs.none} is empty",
		"expect.rejected.message.contains: the value of ${outputs.none} is empty")
	if err != nil && strings.Contains(err.Error(), "data") {
		t.Errorf("fields of objects may be empty: %v", err)
	}
}
