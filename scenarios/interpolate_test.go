package scenarios

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
)

func TestInterpolate(t *testing.T) {
	e := NewExpressions()
	for _, test := range []struct {
		name        string
		value, want any
	}{
		{"no expression", "plain $ {x} $x", "plain $ {x} $x"},
		{"within a text", "a-${namespace}-${case.port}", "a-ns-1-80"},
		{"a whole number", "${case.port}", int64(80)},
		{"a whole list", "${case.names}", []any{"a", "b"}},
		{"a whole map", "${object.metadata.labels}", map[string]any{"namespace": "label"}},
		{"a whole null", "${case.none}", nil},
		{"spaces keep it a text", " ${case.port}", " 80"},
		{"doubles", "${value} ${object.spec.ratio} ${1e20}", "3 0.5 1e+20"},
		{"lists and maps in a text", "x ${case.names} ${{'a': 1}}", `x ["a","b"] {"a":1}`},
		{"escape", "$${namespace} $${ $$${x}", "${namespace} ${ $${x}"},
		{"escape and expression", "$${${namespace}}", "${ns-1}"},
		{"a dollar before an expression", `${"$"}${namespace}`, "$ns-1"},
		{"braces in an expression", `${{"a": {"b": "}"}}["a"]["b"]}`, "}"},
		{"braces in strings", `${'}' + "}\"" + r"\" + '''}'}'''}`, `}}"\}'}`},
		{"what comes out is not looked at again", "${case.text}", "${namespace}"},
		{
			"deep",
			map[string]any{"a": []any{"${namespace}", int64(1), nil, true, 0.5}, "${namespace}": "k"},
			map[string]any{"a": []any{"ns-1", int64(1), nil, true, 0.5}, "${namespace}": "k"},
		},
		{"objects", Object{"a": "${namespace}"}, Object{"a": "ns-1"}},
		{"lists of maps", []map[string]any{{"a": "${namespace}"}}, []map[string]any{{"a": "ns-1"}}},
		{"texts", []string{"${case.port}"}, []string{"80"}},
		{"nothing", nil, nil},
		{"empty", map[string]any{"a": map[string]any{}, "b": []any{}, "c": ""}, map[string]any{
			"a": map[string]any{},
			"b": []any{}, "c": "",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := e.Interpolate(test.value, variables())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

func TestInterpolateErrors(t *testing.T) {
	e := NewExpressions()
	_, err := e.Interpolate(map[string]any{
		"a": []any{"ok", "${nothing}"}, "b": "x ${case.none}", "c": "${", "d": "${outputs.missing}",
	}, variables())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`a[1]: ${nothing}: `, `b: ${case.none}: is null`,
		"c: the expression that ${ begins is never closed", "d: ${outputs.missing}: no such key: missing",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
}

func TestInterpolateCopies(t *testing.T) {
	inner := map[string]any{"list": []any{"a"}}
	got, err := NewExpressions().Interpolate(map[string]any{"m": inner}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got.(map[string]any)["m"].(map[string]any)["list"].([]any)[0] = "changed"
	if inner["list"].([]any)[0] != "a" {
		t.Error("the copy is not deep")
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
		Position: Position{"f", 1, 2}, Case: map[string]any{"x": "${namespace}"}, CaseName: "${x}",
	}
	got, err := NewExpressions().Step(step, variables())
	if err != nil {
		t.Fatal(err)
	}
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
	// The copy shares nothing with the step that it was made of.
	*got.Delete.Wait, *got.Eventually.Count.Min, *got.Transition.FeatureGates["B"] = false, 7, true
	got.Outputs["x"], got.Expect.Rejected.Message.Matches = "changed", "changed"
	if !*step.Delete.Wait || *step.Eventually.Count.Min != 1 || *step.Transition.FeatureGates["B"] ||
		step.Outputs["x"] == "changed" || step.Expect.Rejected.Message.Matches == "changed" ||
		step.Create["metadata"].(map[string]any)["name"] != "${scenario.id}" {
		t.Errorf("the step itself was changed: %+v", step)
	}
}

func TestStepErrors(t *testing.T) {
	_, err := NewExpressions().Step(Step{
		Create: Object{"data": map[string]any{"a": "${outputs.missing}"}},
		Patch:  &Patch{ObjectReference: ObjectReference{Name: "${case.none}"}},
	}, variables())
	if err == nil || !strings.Contains(err.Error(), "create.data.a: ${outputs.missing}: no such key") ||
		!strings.Contains(err.Error(), "patch.name: is null") {
		t.Error(err)
	}
}

func TestTemplatesComeBack(t *testing.T) {
	for _, text := range []string{
		"", "plain", "$", "$$", "${a}", "a${a}b${b}c", "$${a}", "$$${a}", `${"$"}${a}`,
		`x$${${"}"}`, "$${${a}$${",
	} {
		parts, wrong := splitTemplate(text)
		if wrong != nil {
			t.Fatal(text, wrong)
		}
		again, wrong := splitTemplate(joinTemplate(parts))
		if wrong != nil {
			t.Fatal(text, wrong)
		}
		eval := func(expression string) (any, error) { return "<" + expression + ">", nil }
		a, _ := fill(parts, eval)
		b, _ := fill(again, eval)
		if strings.ReplaceAll(a.(string), `<"$">`, "$") != strings.ReplaceAll(b.(string), `<"$">`, "$") {
			t.Errorf("%q became %q", text, joinTemplate(parts))
		}
	}
	// A dollar that a table put before an expression does not escape it.
	if got := joinTemplate([]part{{text: "a$"}, {text: "x", isExpression: true}}); got != `a${"$"}${x}` {
		t.Error(got)
	}
	if got := joinTemplate([]part{{text: "$"}, {text: "{x}"}}); got != "$${x}" {
		t.Error(got)
	}
}

// What is written as a literal comes out as it was.
func TestLiteral(t *testing.T) {
	e := NewExpressions()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("${}a")))
		want := map[string]any{
			text.Draw(t, "key"): text.Draw(t, "value"), "list": []any{text.Draw(t, "item"), int64(1), nil},
		}
		got, err := e.Interpolate(Literal(want), Variables{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q comes out as %q, %v", want, got, err)
		}
	})
}
