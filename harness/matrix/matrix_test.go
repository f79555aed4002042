package matrix

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

const upgrade = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: upgrade}
spec:
  cases:
  - {name: Kubernetes first, k: "1.35", o: v1.0.0}
  - {name: operator first, k: "1.34", o: v1.1.0}
  cluster: {version: "1.34", systems: [{name: op, version: v1.0.0, module: {path: example.com/op}}]}
  steps:
  - transition: {version: "${case.k}", systems: [{name: op, version: "${case.o}"}]}
  - transition: {version: "1.35", systems: [{name: op, version: v1.1.0}]}
  - transition: {version: "1.34", systems: [{name: op, version: v1.0.0}]}
`

const neighbours = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: neighbours}
spec:
  cases:
  - {from: "1.33", to: "1.34"}
  - {from: "1.34", to: "1.35"}
  cluster: {version: "${case.from}", systems: [{name: op, version: v1.9.0, module: {path: example.com/op}}]}
  steps:
  - transition: {version: "${case.to}"}
  - transition: {version: "${case.from}"}
`

const still = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: still}
spec:
  cluster: {version: "1.34", systems: [{name: op, version: v1.0.0, module: {path: example.com/op}}]}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`

const named = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: named}
spec:
  cases: [{name: add}, {name: remove}]
  cluster: {version: "1.34", systems: [{name: op, version: v1.0.0, module: {path: example.com/op}}]}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {what: "${case.name}"}}
`

const versioned = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: versioned}
spec:
  cluster:
    version: "1.34"
    systems:
    - {name: op, version: v1.0.0, module: {path: example.com/op}, versions: [{from: v2.0.0, module: {package: ./new}}]}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`

const filled = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: filled}
spec:
  cases:
  - {name: v1.1.0, k: "1.35", o: v1.1.0, both: {from: ["1.34", v1.0.0]}}
  - {name: v1.2.0, k: "1.35", o: v1.1.0, both: other}
  covers: [R1]
  known: [{covers: [R1], systems: {op: ["${case.o}"]}, step: "at ${case.o}", reason: a bug}]
  cluster:
    version: "1.34"
    systems: [{name: op, version: v1.0.0, process: {command: [op-$(VERSION)], env: {NEXT: "${case.o}"}}}, {name: other, version: "${case.o}", process: {command: [other]}}]
  steps:
  - name: at ${case.o}
    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: "a-${case.k}"}, data: {v: "${case.both}", text: "op:v1.0.0"}}
  - transition: {version: "${case.k}", systems: [{name: op, version: "${case.o}", process: {env: {NEXT: "${case.o}"}}}]}
  - name: rows
    cases: [{old: v1.0.0, n: "${case.o}", image: "op:${case.o}"}]
    eventually: {apiVersion: v1, kind: ConfigMap, name: "${case.image}", match: {v: "${case.old}"}, cel: object.v == case.n}
  - name: late
    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${namespace}-${case.o}"}}
`

func load(t *testing.T, text string) []*scenarios.Scenario {
	t.Helper()
	set, err := scenarios.LoadBytes("s.yaml", []byte(text))
	golden.Must(t, err)
	return set.Scenarios
}

func axes(change func(*Axes)) Axes {
	a := Axes{System: "op", Versions: []string{"v3.0.0", "v4.0.0", "v5.0.0"}, Kubernetes: []string{"1.35", "1.36.3", "1.37"}}
	if change != nil {
		change(&a)
	}
	return a
}

// described has a line for each cell: its title and path, or why it cannot run.
func described(cells []Cell) string {
	var b strings.Builder
	for _, cell := range cells {
		fmt.Fprintf(&b, "%s, %s on %s: ", cell.Name, cell.Version, cell.Kubernetes)
		if cell.Scenario == nil {
			b.WriteString(cell.Why + "\n")
			continue
		}
		var states []string
		for _, state := range cell.Scenario.Path() {
			states = append(states, state.Version+" "+state.Systems[0].Version)
		}
		fmt.Fprintf(&b, "%s: %s %v\n", cell.Scenario.Title(), strings.Join(states, ", "), cell.Scenario.Case)
	}
	return b.String()
}

func TestCells(t *testing.T) {
	const first = "upgrade [Kubernetes first], "
	for _, test := range []struct {
		name, text string
		axes       Axes
		want       []string
	}{
		{"a scenario without transitions runs in each cell", still, axes(nil), []string{
			"still, v3.0.0 on 1.35: still [v3.0.0 on 1.35]: 1.35 v3.0.0 map[]",
			"still, v5.0.0 on 1.36.3: still [v5.0.0 on 1.36.3]: 1.36.3 v5.0.0 map[]",
		}},
		{"cases that differ in their first version only are one row", neighbours, axes(nil), []string{
			"neighbours, v3.0.0 on 1.35: neighbours [v3.0.0 on 1.35]: 1.35 v3.0.0, 1.36.3 v3.0.0, 1.35 v3.0.0 " +
				"map[from:1.35 to:1.36.3]",
			"neighbours, v3.0.0 on 1.37: it needs Kubernetes 1.38, which is not in the matrix",
		}},
		{"the versions of transitions move along the axes", upgrade, axes(nil), []string{
			first + "v3.0.0 on 1.35: upgrade [Kubernetes first, v3.0.0 on 1.35]: 1.35 v3.0.0, 1.36.3 v3.0.0, 1.36.3 v4.0.0, " +
				"1.35 v3.0.0 map[k:1.36.3 name:Kubernetes first o:v3.0.0]",
			first + "v5.0.0 on 1.35: it needs a newer version of op than v5.0.0, and the matrix has none",
			"upgrade [operator first], v4.0.0 on 1.36.3: upgrade [operator first, v4.0.0 on 1.36.3]: 1.36.3 v4.0.0, " +
				"1.36.3 v5.0.0, 1.37 v5.0.0, 1.36.3 v4.0.0 map[k:1.36.3 name:operator first o:v5.0.0]",
		}},
		{"cases that differ in their name only are several rows", named, axes(nil), []string{
			"named [add], v3.0.0 on 1.35: named [add, v3.0.0 on 1.35]: 1.35 v3.0.0 map[name:add]",
			"named [remove], v3.0.0 on 1.35: named [remove, v3.0.0 on 1.35]: 1.35 v3.0.0 map[name:remove]",
		}},
		{"a version that cannot be compared", versioned, axes(func(a *Axes) { a.Versions[1] = "main" }), []string{
			"versioned, v3.0.0 on 1.35: versioned [v3.0.0 on 1.35]: 1.35 v3.0.0 map[]",
			"versioned, main on 1.35: the definition of system op has versions, and \"main\" cannot be compared with them",
		}},
		{"one cluster is upgraded", still, axes(func(a *Axes) { a.Up = true }), []string{
			"still, v4.0.0 on 1.35: still [v4.0.0 on 1.35]: 1.35 v4.0.0 map[]",
			"still, v4.0.0 on 1.37: still [v4.0.0 on 1.37]: 1.35 v4.0.0, 1.36.3 v4.0.0, 1.37 v4.0.0 map[]",
		}},
		{
			"another definition", still, axes(func(a *Axes) {
				a.Definition = &clusters.System{Process: &clusters.SystemProcess{Command: []string{"op-$(VERSION)"}}}
			}), []string{"still, v3.0.0 on 1.35: still [v3.0.0 on 1.35]: 1.35 v3.0.0 map[]"},
		},
	} {
		list := load(t, test.text)
		before := fmt.Sprint(list[0].Path())
		cells, err := Cells(list, test.axes)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		got := described(cells)
		for _, line := range test.want {
			if !strings.Contains("\n"+got, "\n"+line+"\n") {
				t.Errorf("%s: no line %q in\n%s", test.name, line, got)
			}
		}
		if after := fmt.Sprint(list[0].Path()); after != before {
			t.Errorf("%s: the scenario itself was changed: %s", test.name, after)
		}
	}
}

// Values of a table have the versions of the cell wherever they were filled in. The versions of the cells are also
// versions of the scenario itself, so a version that moved twice would show.
func TestFilledValues(t *testing.T) {
	cells, err := Cells(load(t, filled), axes(func(a *Axes) {
		a.Versions, a.Kubernetes = []string{"v1.1.0", "v1.2.0"}, []string{"1.35", "1.36"}
	}))
	golden.Must(t, err)
	s := cells[0].Scenario
	steps := s.Spec.Steps
	change := steps[1].Transition
	for what, got := range map[string][2]any{
		"the name of a step":        {steps[0].Name, "at v1.2.0"},
		"a known issue":             {s.Spec.Known[0].Systems["op"], []string{"v1.2.0"}},
		"the step of the issue":     {s.Spec.Known[0].Step, "at v1.2.0"},
		"a setting of the system":   {s.Spec.Cluster.Systems[0].Process.Env["NEXT"], "v1.2.0"},
		"a setting that changes":    {change.Systems[0].Process.Env["NEXT"], "v1.2.0"},
		"the versions at first":     {s.Spec.Cluster.Version + s.Spec.Cluster.Systems[0].Version, "1.35v1.1.0"},
		"another system":            {s.Spec.Cluster.Systems[1].Version, "v1.1.0"},
		"the versions that follow":  {change.Version + change.Systems[0].Version, "1.36v1.2.0"},
		"a name":                    {steps[0].Create["metadata"].(map[string]any)["name"], "a-1.36"},
		"a list in the table":       {fmt.Sprint(steps[0].Create["data"].(map[string]any)["v"]), "map[from:[1.35 v1.1.0]]"},
		"a text with a version":     {steps[0].Create["data"].(map[string]any)["text"], "op:v1.0.0"},
		"a text of a step's table":  {steps[2].Eventually.Name, "op:v1.2.0"},
		"a value of a step's table": {steps[2].Eventually.Match["v"], "v1.1.0"},
		"the name of a row":         {steps[2].Title(), "rows [v1.0.0]"},
		"the values of a step":      {fmt.Sprint(steps[2].Case), "map[both:map[from:[1.35 v1.1.0]] image:op:v1.2.0 k:1.36 n:v1.2.0 name:v1.2.0 o:v1.2.0 old:v1.1.0]"},
		"a text with a late part":   {steps[3].Create["metadata"].(map[string]any)["name"], "${namespace}-v1.2.0"},
	} {
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Errorf("%s is %v, want %v", what, got[0], got[1])
		}
	}
}

// A scenario that is not valid with the versions of one cell is not run there, but in others. The cell counts as one
// that could not be planned.
func TestInvalidCell(t *testing.T) {
	text := strings.Replace(filled, `step: "at ${case.o}"`, `step: "at v1.1.0"`, 1)
	cells, err := Cells(load(t, text), axes(func(a *Axes) {
		a.Versions, a.Kubernetes = []string{"v1.0.0", "v1.1.0", "v1.2.0"}, []string{"1.34", "1.35"}
	}))
	golden.Must(t, err)
	const want = "with the versions of the cell in its table it is not valid: s.yaml:9:62: no step is called \"at v1.1.0\""
	if as, other := cells[0], cells[2]; as.Scenario == nil || other.Scenario != nil || !other.Unplanned ||
		!strings.HasPrefix(other.Why, want) {
		t.Errorf("%s", described(cells))
	}
	if cells[4].Unplanned {
		t.Error("a cell for which the matrix lacks a version counts as one that could not be planned")
	}
}

func TestNoCells(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		axes Axes
		want string
	}{
		"no such system": {still, axes(func(a *Axes) { a.System = "po" }), "it has no system po"},
		"nowhere to go":  {upgrade, axes(func(a *Axes) { a.Versions = a.Versions[:1] }), "it needs a newer version of op than v3.0.0"},
		"no next minor":  {neighbours, axes(func(a *Axes) { a.Kubernetes = []string{"1.35"} }), "it needs Kubernetes 1.36, which"},
		"given twice":    {still, axes(func(a *Axes) { a.Versions = []string{"v1", "v1"} }), "v1 is given twice"},
		"a downgrade": {
			upgrade, axes(func(a *Axes) { a.Versions = []string{"v1.19.1", "main", "v1.18.2"} }),
			"versions of op: v1.18.2 is older than v1.19.1: write v1.18.2 before v1.19.1",
		},
		"an older minor": {
			still, axes(func(a *Axes) { a.Kubernetes = []string{"1.35", "1.34.4"} }),
			"versions of Kubernetes: 1.34.4 is older than 1.35: write 1.34.4 before 1.35",
		},
		"an older patch": {
			still, axes(func(a *Axes) { a.Kubernetes = []string{"1.36.3", "1.36.1"} }), "1.36.1 is older than 1.36.3",
		},
		"without versions": {still, axes(func(a *Axes) { a.Versions = nil }), "versions of op: give at least one version"},
		"a patch": {
			strings.Replace(still, "  - create", "  - transition: {version: \"1.34.4\"}\n  - create", 1), axes(nil),
			"it uses two patch releases of one minor version, 1.34 and 1.34.4",
		},
		"an emulated version": {
			strings.Replace(still, `version: "1.34"`, `version: "1.34", emulatedVersion: "1.33"`, 1), axes(nil),
			"it emulates a version of Kubernetes",
		},
		"systems that depend on a version": {
			strings.Replace(still, "  steps", "  cases: [{o: v1.0.0}]\n  steps", 1) +
				`  - transition: {version: "1.35", systems: "${case.o == 'v1.0.0' ? [{'name': 'op', 'version': 'v1.0.0'}] : []}"}`,
			axes(nil), "its steps or systems depend on versions in its table",
		},
		"a simulator": {
			strings.Replace(still, "version: v1.0.0, module: {path: example.com/op}", "simulated: {}", 1), axes(nil),
			"the definition of system op is the same at each version",
		},
		"one program for all versions": {
			strings.Replace(still, "module: {path: example.com/op}", "process: {command: [/bin/op]}", 1), axes(nil),
			"the definition of system op is the same at each version",
		},
		"a text that contains a version by accident": {
			strings.Replace(still, "version: v1.0.0, module: {path: example.com/op}",
				`version: "1", process: {command: [sleep, "20"]}`, 1),
			axes(func(a *Axes) { a.Versions = []string{"2"} }), "the definition of system op is the same at each version",
		},
		"one program of the matrix for all versions": {
			still, axes(func(a *Axes) { a.Definition = &clusters.System{Process: &clusters.SystemProcess{}} }),
			"the definition of system op is the same at each version",
		},
		"a definition that changes": {
			strings.Replace(still, "  - create", "  - transition: {systems: [{name: op, module: {package: cmd}}]}\n  - create", 1),
			axes(func(a *Axes) { a.Definition = &clusters.System{Module: &clusters.SystemModule{}} }), "it changes more of system op than the version",
		},
	} {
		if cells, err := Cells(load(t, test.text), test.axes); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q; cells\n%s", name, err, test.want, described(cells))
		}
	}
}

// Versions that cannot be compared may have any order.
func TestOrderOfVersions(t *testing.T) {
	for _, change := range []func(*Axes){
		func(a *Axes) { a.Versions = []string{"v1.0.0", "main", "v1.0.0+build"} },
		func(a *Axes) { a.Kubernetes = []string{"1.34.4", "1.34", "1.36.0-rc.1", "1.36.0"} },
	} {
		a := axes(change)
		if err := a.check(); err != nil {
			t.Errorf("%v on %v: %v", a.Versions, a.Kubernetes, err)
		}
	}
}

func TestParseKubernetes(t *testing.T) {
	for text, want := range map[string]string{
		"1.33-1.35":        "1.33 1.34 1.35",
		"1.34,1.36.3":      "1.34 1.36.3",
		"1.36.0-rc.1":      "1.36.0-rc.1",
		"1.33-1.34,1.37.2": "1.33 1.34 1.37.2",
		"1.35-1.33":        "error", "1.34.4-1.35": "error", "x": "error", "1.34,1.34": "error", "": "error",
	} {
		got, err := ParseKubernetes(strings.Split(text, ","))
		if text := strings.Join(got, " "); err == nil && text != want || err != nil && want != "error" {
			t.Errorf("%s: %q, %v; want %s", text, got, err, want)
		}
	}
}
