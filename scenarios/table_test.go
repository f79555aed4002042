package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	set, err := Load([]string{"testdata/tables.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := titles(set), []string{
		"tables [Alpha]", "tables [Beta]",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s := set.Scenarios[0]
	if s.Spec.Cluster.Version != "1.34" || !s.Spec.Cluster.FeatureGates["Alpha"] || *s.Spec.Cluster.Nodes[0].Count != 3 {
		t.Errorf("cluster %+v", s.Spec.Cluster)
	}
	if s.Metadata.Labels["gate"] != "Alpha" || s.Spec.Covers[0] != "KEP-Alpha" ||
		s.Spec.Known[0].Reason != "${ is no expression" {
		t.Errorf("%+v", s)
	}
	if s.Spec.Description != `The gate Alpha lets ["9-a","9-b"] through.` {
		t.Error(s.Spec.Description)
	}
	if len(s.Spec.Steps) != 5 || s.Spec.Cases != nil || s.Spec.Steps[0].Cases != nil {
		t.Fatalf("steps %+v", s.Spec.Steps)
	}
	post, put := &s.Spec.Steps[0], &s.Spec.Steps[1]
	if post.Title() != "Alpha [post]" {
		t.Errorf("title %q", post.Title())
	}
	wantCreate := Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "post-1-${namespace}", "labels": map[string]any{"post": "Alpha-host"}},
		"data": map[string]any{
			"names": []any{"9-a", "9-b"}, "port": int64(1), "raw": "1",
			"both": "1-${namespace}-$${y}",
		},
	}
	if !reflect.DeepEqual(post.Create, wantCreate) {
		t.Errorf("got  %v\nwant %v", post.Create, wantCreate)
	}
	// Text from a table is never evaluated as an expression, neither alone nor next to one.
	if data := put.Create["data"].(map[string]any); data["raw"] != "$${x}" || data["both"] != "$${x}-${namespace}-$${y}" {
		t.Errorf("%v", data)
	}
	if r := post.Expect.Rejected; r.Code != 422 || r.Reason != "Invalid" {
		t.Errorf("%+v", r)
	}
	if post.Case["verb"] != "post" || post.Case["gate"] != "Alpha" || s.Spec.Steps[3].Case != nil ||
		s.CaseOf(&s.Spec.Steps[3])["gate"] != "Alpha" || s.CaseOf(put)["port"] != int64(2) {
		t.Errorf("cases %v, %v", post.Case, s.Spec.Steps[3].Case)
	}
	if *s.Spec.Steps[3].Transition.FeatureGates["Alpha"] {
		t.Error("the gate was not turned off")
	}
	if c := s.Spec.Steps[4].Eventually.Count; *c.Min != 2 || *c.Max != 2 {
		t.Errorf("count %+v", c)
	}
	if c := set.Scenarios[1].Spec.Steps[4].Eventually.Count; *c.Max != 0 {
		t.Errorf("count %+v", c)
	}
}

func TestRowNames(t *testing.T) {
	for _, test := range []struct {
		name, cases string
		want        []string
	}{
		{"own names", `[{name: first, x: 1}, {name: "second one", x: 1}]`, []string{"first", "second one"}},
		{"what differs", `[{same: s, x: 1, y: true}, {same: s, x: 2, y: false}]`, []string{"1", "2"}},
		{
			"as many columns as are needed", `[{l: [1], x: 1, y: true}, {l: [2], x: 1, y: false}, {l: [2], x: 2, y: true}]`,
			[]string{"1, true", "1, false", "2, true"},
		},
		{"lists when nothing else differs", `[{l: [1], x: 1}, {l: [2], x: 1}]`, []string{"[1]", "[2]"}},
		{"one row", `[{x: 1, y: b}]`, []string{"1"}},
		{"the same twice", `[{x: 1}, {x: 1}]`, []string{"#1", "#2"}},
		{"nothing to show", `[{x: ""}, {x: null}, {x: " "}]`, []string{"#1", "null", "#3"}},
		{"a number that is a name", `[{x: a}, {x: a}, {x: "a #2"}]`, []string{"#1", "#2", "#3"}},
		{
			"long ones", `[{x: "` + strings.Repeat("a", 50) + `1"}, {x: "` + strings.Repeat("a", 50) + `2"}]`,
			[]string{strings.Repeat("a", 37) + "...", strings.Repeat("a", 37) + "... #2"},
		},
		{"lines and maps", `[{x: "a\n  b"}, {x: {k: [1]}}]`, []string{"a b", `{"k":[1]}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := mustLoad(t, strings.Replace(minimal("rows"), "  steps:\n", "  cases: "+test.cases+"\n  steps:\n", 1))
			var got []string
			ids := map[string]bool{}
			for _, s := range set.Scenarios {
				got = append(got, s.CaseName)
				ids[s.ID()] = true
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if len(ids) != len(set.Scenarios) {
				t.Errorf("ids %v", ids)
			}
		})
	}
}

// A step's row is merged over the scenario's row, and its expressions can use that row.
func TestNestedTables(t *testing.T) {
	set := mustLoad(t, strings.Replace(minimal("nested"), `  steps:
  - delete: {apiVersion: v1, kind: Pod, name: a}
`, `  cases: [{x: 1, who: a}, {x: 2, who: b}]
  steps:
  - cases: [{who: "${case.who + case.who}", y: "${case.x * 10}"}, {who: fixed, y: 3}]
    delete: {apiVersion: v1, kind: Pod, name: "${case.who}-${case.x}-${case.y}"}
  - delete: {apiVersion: v1, kind: Pod, name: "${case.who}"}
`, 1))
	var got []string
	for _, s := range set.Scenarios {
		for _, step := range s.Spec.Steps {
			got = append(got, step.Delete.Name)
		}
	}
	if want := "[aa-1-10 fixed-1-3 a bb-2-20 fixed-2-3 b]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
