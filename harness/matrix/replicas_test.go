package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// replicas is upgraded one replica after the other, beside another program.
const replicas = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: replicas}
spec:
  cluster:
    version: "1.34"
    systems:
    - {name: op-leader, version: v1.0.0, module: {path: example.com/op, package: cmd}}
    - {name: op, version: v1.0.0, module: {path: example.com/op, package: cmd}}
    - {name: audit, version: v1.0.0, module: {path: example.com/op, package: audit}}
    - {name: other, version: v1.0.0, module: {path: example.com/other}}
  steps:
  - transition: {systems: [{name: op-leader, version: v1.1.0}]}
  - transition: {systems: [{name: op, version: v1.1.0}, {name: audit, version: v1.1.0}]}
`

const scripts = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: scripts}
spec:
  cluster:
    version: "1.34"
    systems:
    - {name: op, version: v1.0.0, process: {command: ["/bin/op-$(VERSION)"]}}
    - {name: op-leader, version: v1.0.0, process: {command: ["/bin/op-$(VERSION)", --lead]}}
    - {name: other, version: v1.0.0, process: {command: ["/bin/sh", "$(VERSION)"]}}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`

// pathsOf has the systems of each state, with their versions.
func pathsOf(cell Cell) string {
	if cell.Scenario == nil {
		return cell.Why
	}
	var states []string
	for _, state := range cell.Scenario.Path() {
		var systems []string
		for _, s := range state.Systems {
			systems = append(systems, s.Name+" "+s.Version)
		}
		states = append(states, strings.Join(systems, " "))
	}
	return strings.Join(states, ", ")
}

// All programs of the system's module have the versions of the cell. Replicas that have the same version, or that
// follow each other, do so in every cell.
func TestReplicas(t *testing.T) {
	for _, test := range []struct {
		name, text string
		change     func(*Axes)
		// want are the first and the last version of the system in the matrix.
		want [2]string
	}{
		{"one after the other", replicas, nil, [2]string{
			"op-leader v3.0.0 op v3.0.0 audit v3.0.0 other v1.0.0, op-leader v4.0.0 op v3.0.0 audit v3.0.0 other v1.0.0, " +
				"op-leader v4.0.0 op v4.0.0 audit v4.0.0 other v1.0.0",
			"it needs a newer version of op than v5.0.0, and the matrix has none",
		}},
		{"the other one is named", replicas, func(a *Axes) { a.System = "op-leader" }, [2]string{
			"op-leader v3.0.0 op v3.0.0 audit v3.0.0 other v1.0.0, op-leader v4.0.0 op v3.0.0 audit v3.0.0 other v1.0.0, " +
				"op-leader v4.0.0 op v4.0.0 audit v4.0.0 other v1.0.0",
			"it needs a newer version of op-leader than v5.0.0, and the matrix has none",
		}},
		{
			"the system is ahead of its replica",
			strings.Replace(replicas, "{name: op, version: v1.0.0", "{name: op, version: v1.1.0", 1),
			func(a *Axes) { a.Versions = a.Versions[:2] },
			[2]string{
				"it needs an older version of op than v3.0.0, and the matrix has none",
				"op-leader v3.0.0 op v4.0.0 audit v3.0.0 other v1.0.0, op-leader v4.0.0 op v4.0.0 audit v3.0.0 other v1.0.0, " +
					"op-leader v4.0.0 op v4.0.0 audit v4.0.0 other v1.0.0",
			},
		},
		{"a command that contains the version", scripts, nil, [2]string{
			"op v3.0.0 op-leader v3.0.0 other v1.0.0", "op v5.0.0 op-leader v5.0.0 other v1.0.0",
		}},
		{"another definition of the same program", replicas, func(a *Axes) {
			a.Definition = &clusters.System{Module: &clusters.SystemModule{Path: "example.com/op"}}
		}, [2]string{
			"op-leader v3.0.0 op v3.0.0 audit v3.0.0 other v1.0.0, op-leader v4.0.0 op v3.0.0 audit v3.0.0 other v1.0.0, " +
				"op-leader v4.0.0 op v4.0.0 audit v4.0.0 other v1.0.0",
			"it needs a newer version of op than v5.0.0, and the matrix has none",
		}},
	} {
		all := axes(test.change)
		all.Kubernetes = all.Kubernetes[:1]
		cells, err := Cells(load(t, test.text), all)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := [2]string{pathsOf(cells[0]), pathsOf(cells[len(cells)-1])}; got != test.want {
			t.Errorf("%s: got\n%s\n%s\nwant\n%s\n%s", test.name, got[0], got[1], test.want[0], test.want[1])
		}
	}
}

// No cell mixes two programs, or two versions of which the scenario knows only one.
func TestImpossibleReplicas(t *testing.T) {
	for want, change := range map[string]func(*Axes){
		"the definition of the matrix replaces the program of op by another one, but not that of its replicas: " +
			"op-leader, audit": func(a *Axes) {
			a.Definition = &clusters.System{Manifests: []string{"op.yaml"}}
		},
		"it has no system po; its systems: op-leader, op, audit, other": func(a *Axes) { a.System = "po" },
	} {
		if cells, err := Cells(load(t, replicas), axes(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %s; want %q", err, fmt.Sprint(cells), want)
		}
	}
}

// The replicas of the examples follow the versions of the matrix.
func TestReplicasOfExamples(t *testing.T) {
	for folder, system := range map[string]string{
		"jobset": "jobset", "kuberay": "kuberay", "kyverno": "kyverno", "argo-rollouts": "rollouts",
		"keda": "keda",
	} {
		set, err := scenarios.Load([]string{"../../examples/operators/" + folder + "/upgrade.yaml"})
		golden.Must(t, err)
		cells, err := Cells(set.Scenarios, axes(func(a *Axes) { a.System = system }))
		golden.Must(t, err)
		const want = "leader v3.0.0 "
		if got := pathsOf(cells[0]); !strings.Contains(got, want) || strings.Count(got, " v3.0.0")+
			strings.Count(got, " v4.0.0") != strings.Count(got, " v") {
			t.Errorf("%s: got %s", folder, got)
		}
	}
}
