package expressions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

func TestFieldsOfExpressions(t *testing.T) {
	said := func(fields []fieldpath.Use) string {
		var all []string
		for _, f := range fields {
			text := f.String()
			if f.Optional {
				text += "?"
			}
			all = append(all, text)
		}
		return strings.Join(all, " ")
	}
	e := New()
	for expression, want := range map[string]string{
		`object.status.phase == "Running"`:                                                "status.phase",
		`object.metadata.namespace == namespace`:                                          "metadata.namespace",
		`has(object.status.phaze)`:                                                        "status.phaze?",
		`!has(object.spec.x) || object.spec.x.y == 1`:                                     "",
		`object.?spec.?x.orValue(1) == 1`:                                                 "",
		`!has(object.spec.x) && object.spec.y.z == 2`:                                     "spec.y.z",
		`!(object.spec.x == 1 && object.spec.y == 1)`:                                     "",
		`!object.spec.x`:                                                                  "spec.x",
		`object.spec["containers"][0].image == "a"`:                                       "spec.containers[*].image",
		`object.status.conditions.exists(c, c.type == "Ready" && c.status == "True")`:     "status.conditions status.conditions[*].type status.conditions[*].status",
		`objects.all(o, o.spec.nodeName == objects[0].spec.nodeName)`:                     "spec.nodeName spec.nodeName",
		`objects.exists(object, object.spec.a == before.spec.b)`:                          "spec.a spec.b",
		`objects.map(o, o.spec.a).sum() == 3`:                                             "spec.a",
		`objects.filter(o, o.spec.a == 1).all(o, o.nonsense)`:                             "spec.a",
		`size(object.spec.names) == 1 ? object.a : object.b`:                              "spec.names",
		`object.metadata.labels["app"] == outputs.app`:                                    "metadata.labels.app",
		`object.spec.list.map(x, {"a": x.b})[0].a == 1`:                                   "spec.list spec.list[*].b",
		`[object.spec.a, object.spec.b].all(x, x.unknowable == 1) && stdout.contains("")`: "spec.a spec.b",
	} {
		fields, err := e.Fields(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
		}
		if got := said(fields); got != want {
			t.Errorf("%s: looks at %q, want %q", expression, got, want)
		}
	}
	match := map[string]any{
		"spec": map[string]any{
			"gone": nil, "none": []any{}, "ports": []any{map[string]any{"port": 80}}, "${outputs.x}": 1,
			"any": map[string]any{},
		},
		"status": "x",
	}
	if got, want := said(fieldpath.Matched(match)), "spec.any spec.ports[*].port status"; got != want {
		t.Errorf("a match looks at %q, want %q", got, want)
	}
	path, err := fieldpath.Parse(`status.containerStatuses[*].x[0].labels["a.b/c"]`)
	if got, want := said([]fieldpath.Use{path.Fields()}), "status.containerStatuses[*].x[*].labels.a.b/c"; err != nil ||
		got != want {
		t.Errorf("a path is %q, %v", fmt.Sprint(got), err)
	}
}
