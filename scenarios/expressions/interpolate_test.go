package expressions

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// named is a map with its own type, like scenarios.Object.
type named map[string]any

func TestInterpolate(t *testing.T) {
	e := New()
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
		{"objects", named{"a": "${namespace}"}, named{"a": "ns-1"}},
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
			golden.Must(t, err)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

func TestInterpolateErrors(t *testing.T) {
	e := New()
	_, err := e.Interpolate(map[string]any{
		"a": []any{"ok", "${nothing}"}, "b": "x ${case.none}", "c": "${", "d": "${outputs.missing}",
	}, variables())
	golden.Error(t, err, `a[1]: ${nothing}: `, `b: ${case.none}: is null`, "c: the expression after ${ is never closed",
		"d: ${outputs.missing}: no such key: missing")
}

func TestInterpolateCopies(t *testing.T) {
	inner := map[string]any{"list": []any{"a"}}
	got, err := New().Interpolate(map[string]any{"m": inner}, nil)
	golden.Must(t, err)
	got.(map[string]any)["m"].(map[string]any)["list"].([]any)[0] = "changed"
	if inner["list"].([]any)[0] != "a" {
		t.Error("the copy is not deep")
	}
}

func TestTemplatesComeBack(t *testing.T) {
	for _, text := range []string{
		"", "plain", "$", "$$", "${a}", "a${a}b${b}c", "$${a}", "$$${a}", `${"$"}${a}`,
		`x$${${"}"}`, "$${${a}$${",
	} {
		parts, wrong := Split(text)
		if wrong != nil {
			t.Fatal(text, wrong)
		}
		again, wrong := Split(Join(parts))
		if wrong != nil {
			t.Fatal(text, wrong)
		}
		eval := func(expression string) (any, error) { return "<" + expression + ">", nil }
		a, _ := Fill(parts, eval)
		b, _ := Fill(again, eval)
		if strings.ReplaceAll(a.(string), `<"$">`, "$") != strings.ReplaceAll(b.(string), `<"$">`, "$") {
			t.Errorf("%q became %q", text, Join(parts))
		}
	}
	// A dollar that a table put before an expression does not escape it.
	if got := Join([]Part{{Text: "a$"}, {Text: "x", IsExpression: true}}); got != `a${"$"}${x}` {
		t.Error(got)
	}
	if got := Join([]Part{{Text: "$"}, {Text: "{x}"}}); got != "$${x}" {
		t.Error(got)
	}
}

// A value that is written with Literal is the same after interpolation. The loader removes the escapes of its keys.
func TestLiteral(t *testing.T) {
	e := New()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("${}a")))
		key := text.Draw(t, "key")
		want := map[string]any{key: text.Draw(t, "value"), "list": []any{text.Draw(t, "item"), int64(1), nil}}
		literal, _ := Literal(want).(map[string]any)
		if _, escaped := literal[Escape(key)]; !escaped {
			t.Fatalf("the key %q is not escaped: %v", key, literal)
		}
		if value := literal[Escape(key)]; Escape(key) != key {
			delete(literal, Escape(key))
			literal[key] = value
		}
		got, err := e.Interpolate(literal, Variables{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q comes out as %q, %v", want, got, err)
		}
	})
}
