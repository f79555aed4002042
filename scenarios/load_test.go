package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// minimal is a document that is a valid scenario.
func minimal(name string) string {
	return `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: ` + name + `}
spec:
  cluster: {version: "1.34"}
  steps:
  - delete: {apiVersion: v1, kind: Pod, name: a}
`
}

func mustLoad(t *testing.T, text string) *Set {
	t.Helper()
	set, err := LoadBytes("test.yaml", []byte(text))
	golden.Must(t, err)
	return set
}

func titles(set *Set) []string {
	var all []string
	for _, s := range set.Scenarios {
		all = append(all, s.Title())
	}
	return all
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		golden.Write(t, filepath.Join(dir, name), text)
	}
}

func TestLoadPaths(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"b.yaml":              minimal("b"),
		"a/two.yml":           "---\n" + minimal("a-1") + "---\n# nothing\n---\n" + minimal("a-2"),
		"a/notes.txt":         "no scenario",
		"c/deployment.yaml":   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
		"c/scenario.yaml":     "\ufeff" + strings.ReplaceAll(minimal("c"), "\n", "\r\n"),
		"testdata/bad.yaml":   "bad",
		".hidden/x.yaml":      "bad",
		"other/[odd].yaml":    minimal("odd"),
		"other/elsewhere.md":  "no scenario",
		"c/requirements.yaml": "- {id: A-1, text: it works}\n",
		"c/_systems/op.yaml":  "name: op\nprocess: {command: [op]}\n",
		"c/_later/s.yaml":     minimal("later"),
	})
	for _, test := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"folder", []string{""}, []string{"a-1", "a-2", "b", "c", "odd"}},
		{"file", []string{"b.yaml"}, []string{"b"}},
		{"order of the paths", []string{"b.yaml", "a"}, []string{"b", "a-1", "a-2"}},
		{"glob", []string{"*/*.yml"}, []string{"a-1", "a-2"}},
		{"glob of folders", []string{"[ac]"}, []string{"a-1", "a-2", "c"}},
		{"a name that looks like a glob", []string{"other/[odd].yaml"}, []string{"odd"}},
		{"twice the same file", []string{"b.yaml", "./b.yaml", ""}, []string{"b", "a-1", "a-2", "c", "odd"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var paths []string
			for _, p := range test.paths {
				paths = append(paths, dir+string(filepath.Separator)+p)
			}
			set, err := Load(paths)
			golden.Must(t, err)
			if got := titles(set); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	set, err := Load([]string{dir})
	golden.Must(t, err)
	for _, want := range []string{
		"deployment.yaml:1:1: left out: apps/v1 Deployment",
		"testdata:1:1: this folder was skipped", ".hidden:1:1: this folder", "_later:1:1: this folder",
	} {
		found := false
		for _, p := range Lint(set) {
			found = found || strings.Contains(p.String(), want)
		}
		if !found {
			t.Errorf("lint does not say %q: %v", want, Lint(set))
		}
	}
	for _, p := range Lint(set) {
		if strings.Contains(p.String(), "_systems") {
			t.Errorf("a folder without scenarios: %v", p)
		}
	}
}

func TestLoadPathErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"empty/notes.txt":      "no scenario",
		"near/a.yaml":          "apiVersion: rehearse.dev/v1\nkind: Scenario\n",
		"near/b.yaml":          "apiVersion: reharse.dev/v1alpha1\nkind: Something\n",
		"near/c.yaml":          "apiVersion: example.org/v1\nkind: Scenaro\n",
		"near/d.yaml":          "- id: A-1\n",
		"of/requirements.yaml": "- id: A-1\n",
		"twice/a.yaml":         minimal("same"),
		"twice/b.yaml":         minimal("same"),
		"named/deployment.yml": "apiVersion: apps/v1\nkind: Deployment\n",
		"linked/target/a.yaml": minimal("a"),
	})
	golden.Must(t, os.Symlink(filepath.Join(dir, "twice"), filepath.Join(dir, "linked", "folder")))
	for _, test := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"nothing", nil, []string{"no file, folder or glob"}},
		{"no such file", []string{"none.yaml"}, []string{"none.yaml", "no such file"}},
		{"glob without a match", []string{"x*.yaml"}, []string{"nothing matches"}},
		{"bad glob", []string{"[x"}, []string{"is not a glob"}},
		{"folder without scenarios", []string{"empty"}, []string{"no *.yaml or *.yml below"}},
		{"what is nearly a scenario is not left out", []string{"near"}, []string{
			"a.yaml:1:13", "b.yaml:1:13", "c.yaml:1:13",
			"d.yaml:1:1",
		}},
		{
			"a named file is never left out",
			[]string{"named/deployment.yml"},
			[]string{"deployment.yml:1:13: apps/v1 Deployment is an object for Kubernetes", "the smallest one is"},
		},
		{"a folder of objects", []string{"named"}, []string{
			"only 1 object for Kubernetes, such as apps/v1 Deployment at ",
			"the smallest one is",
		}},
		{"only requirements", []string{"of"}, []string{"there are none, only the requirements of a suite"}},
		{
			"named requirements",
			[]string{"of/requirements.yaml"},
			[]string{"requirements.yaml:1:1: want a scenario, not a list"},
		},
		{"no standard input", []string{"-"}, []string{"no standard input"}},
		{"same name in two files", []string{"twice"}, []string{"b.yaml:3:18: the name \"same\" is taken", "a.yaml:3:18"}},
		{"a link to a folder", []string{"linked"}, []string{"link to a folder"}},
		{"all errors at once", []string{"none.yaml", "near/a.yaml", "named"}, []string{"none.yaml", "a.yaml:1:13"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var paths []string
			for _, p := range test.paths {
				if p != "-" {
					p = filepath.Join(dir, p)
				}
				paths = append(paths, p)
			}
			set, err := Load(paths)
			if set != nil {
				t.Errorf("loaded %v", set)
			}
			golden.Error(t, err, test.want...)
		})
	}
}

func TestTheSmallestScenarioLoads(t *testing.T) {
	if got := titles(mustLoad(t, strings.ReplaceAll(smallest, "\n    ", "\n")[4:])); !reflect.DeepEqual(got,
		[]string{"mine"}) {
		t.Errorf("got %v", got)
	}
}

func TestLoadStandardInput(t *testing.T) {
	text := minimal("typed") + "  - command: {run: [./program]}\n"
	set, err := LoadWith([]string{"-", "-"}, strings.NewReader(text))
	golden.Must(t, err)
	if got := titles(set); len(got) != 1 || got[0] != "typed" || set.Scenarios[0].Position.String() != "stdin:1:1" {
		t.Errorf("%v at %s", got, set.Scenarios[0].Position)
	}
	_, err = LoadWith([]string{"-"}, strings.NewReader(strings.Replace(text, "steps", "stops", 1)))
	golden.Error(t, err, "stdin:6:3: ")
}

func TestExamples(t *testing.T) {
	set, err := Load([]string{"testdata/examples"})
	golden.Must(t, err)
	seen := map[string]bool{"write": true} // the loader replaces it with another verb
	for _, s := range set.Scenarios {
		for i := range s.Spec.Steps {
			seen[s.Spec.Steps[i].Verb()] = true
		}
	}
	for _, f := range verbFields() {
		if !seen[f.Name] {
			t.Errorf("no example has the verb %s", f.Name)
		}
	}
	for _, p := range Lint(set) {
		t.Error(p)
	}
}

func TestRollback(t *testing.T) {
	set, err := Load([]string{"testdata/rollback.yaml"})
	golden.Must(t, err)
	s := set.Scenarios[0]
	if s.Metadata.Labels["kep"] != "5311" || len(s.Spec.Covers) != 4 || len(s.Spec.Steps) != 7 {
		t.Fatalf("%+v", s)
	}
	rejected := s.Spec.Steps[0].Expect.Rejected
	if rejected.Code != 422 || rejected.Field != "metadata.name" ||
		rejected.Message.Contains != "a DNS-1035 label must consist of" {
		t.Errorf("%+v", rejected)
	}
	if !reflect.DeepEqual(s.Spec.Steps[0].Create, s.Spec.Steps[2].Create) {
		t.Error("the alias is not what its anchor is")
	}
	if at := s.Spec.Steps[2].Position; at != (Position{File: "testdata/rollback.yaml", Line: 24, Column: 5}) {
		t.Errorf("step 3 is at %s", at)
	}
	ports := s.Spec.Steps[0].Create["spec"].(map[string]any)["ports"].([]any)
	if port := ports[0].(map[string]any)["port"]; port != int64(80) {
		t.Errorf("port %T %v", port, port)
	}
	path := s.Path()
	if len(path) != 3 || path[0].Version != "1.34" || path[1].Version != "1.35" ||
		!path[1].FeatureGates["RelaxedServiceNameValidation"] || path[2].FeatureGates["RelaxedServiceNameValidation"] {
		t.Errorf("path %+v", path)
	}
	if problems := Lint(set); len(problems) != 0 {
		t.Error(problems)
	}
}

func TestAliasesAndMergeKeys(t *testing.T) {
	set := mustLoad(t, strings.Replace(minimal("merge"), "  - delete: {apiVersion: v1, kind: Pod, name: a}\n",
		`  - create: &base
      apiVersion: v1
      kind: ConfigMap
      metadata: &meta {name: a, labels: {x: "1"}}
      data: {a: "1", 2: b, true: c}
  - update:
      data: {b: "2"}
      <<: [{kind: First, extra: e}, *base]
      metadata: {<<: *meta, name: b}
`, 1))
	got := set.Scenarios[0].Spec.Steps[1].Update
	want := Object{
		"apiVersion": "v1", "kind": "First", "extra": "e",
		"metadata": map[string]any{"name": "b", "labels": map[string]any{"x": "1"}},
		"data":     map[string]any{"b": "2"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if data := set.Scenarios[0].Spec.Steps[0].Create["data"]; !reflect.DeepEqual(data, map[string]any{
		"a": "1", "2": "b",
		"true": "c",
	}) {
		t.Errorf("keys that are no texts: %v", data)
	}
}

func TestPlainValues(t *testing.T) {
	set := mustLoad(t, strings.Replace(minimal("values"), "  - delete: {apiVersion: v1, kind: Pod, name: a}\n", `  - apply:
      apiVersion: v1
      kind: Thing
      metadata: {name: a}
      values: [1, -2, 0x10, 0644, 1_000, 1.5, 1e3, true, null, ~, "yes", 2001-01-01, 12:30, 9223372036854775807, "", '1', 0, -0, +7]
`, 1))
	want := []any{
		int64(1), int64(-2), int64(16), int64(420), int64(1000), 1.5, 1000.0, true, nil, nil, "yes", "2001-01-01", "12:30",
		int64(9223372036854775807), "", "1", int64(0), int64(0), int64(7),
	}
	if got := set.Scenarios[0].Spec.Steps[0].Apply["values"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

// An object that is written with expressions.Literal loads, and means the same object in the run: no key and no text of
// it is taken for an expression.
func TestLiteralObjectsLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("${}a")))
		want := map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"},
			"data": rapid.MapOf(text, text.AsAny()).Draw(t, "data"),
		}
		written, err := json.Marshal(expressions.Literal(want))
		if err != nil {
			t.Fatal(err)
		}
		set, err := LoadBytes("test.yaml", fmt.Appendf(nil, "%s  - create: %s\n", minimal("literal"), written))
		if err != nil {
			t.Fatal(err)
		}
		created := map[string]any(set.Scenarios[0].Spec.Steps[1].Create)
		got, err := expressions.New().Interpolate(created, expressions.Variables{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q comes out as %q, %v", want, got, err)
		}
	})
}

// A null in a change removes an entry; it is not the same as no entry.
func TestNullsOfAChange(t *testing.T) {
	set := mustLoad(t, strings.Replace(minimal("nulls"), "  - delete: {apiVersion: v1, kind: Pod, name: a}\n",
		"  - transition: {featureGates: {A: null, B: false}, components: {kube-scheduler: null}}\n", 1))
	change := set.Scenarios[0].Spec.Steps[0].Transition
	a, thereA := change.FeatureGates["A"]
	b := change.FeatureGates["B"]
	scheduler, thereS := change.Components["kube-scheduler"]
	if !thereA || a != nil || b == nil || *b || !thereS || scheduler != nil {
		t.Errorf("%+v", change)
	}
}
