package explore

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func TestTheScenarioOfAFinding(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write(3*time.Second)))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write(3*time.Second))
	}
	steps := set.Scenarios[0].Spec.Steps
	if len(steps) != 3 || steps[0].Create == nil || steps[1].Transition == nil || steps[2].Survives == nil {
		t.Errorf("want the steps create, transition and survives:\n%s", g.write(3*time.Second))
	}
	if except := strings.Join(steps[2].Survives.Except, " "); strings.Contains(except, "update") ||
		strings.Contains(except, "label") || !strings.Contains(except, "create") {
		t.Errorf("the scenario excludes the checks %s", except)
	}
}

// A scenario of a finding that may come late watches for longer than the exploration did.
func TestTheScenarioWatches(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	if text := g.write(3 * time.Second); strings.Contains(text, "settle:") {
		t.Errorf("an update is answered at once:\n%s", text)
	}
	g.checks = append(g.checks, "moved")
	for settle, want := range map[time.Duration]time.Duration{
		2 * time.Second:  5 * time.Second,
		30 * time.Second: time.Minute,
	} {
		set, err := scenarios.LoadBytes("a.yaml", []byte(g.write(settle)))
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Duration(set.Scenarios[0].Spec.Steps[2].Survives.Settle); got != want {
			t.Errorf("settle %s: the scenario watches for %s, want %s", settle, got, want)
		}
	}
}

// A string of the object that looks like an expression stays a string.
func TestTheScenarioEscapesExpressions(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	g.smallest.Body = growth.Text(map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
		"metadata": map[string]any{"name": growth.Placeholder, "namespace": "explore"},
		"spec":     map[string]any{"ingressClassName": "${namespace}"},
	})
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write(3*time.Second)))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write(3*time.Second))
	}
	spec := set.Scenarios[0].Spec.Steps[0].Create["spec"]
	got, err := expressions.New().Interpolate(spec, expressions.Variables{})
	if want := any(map[string]any{"ingressClassName": "${namespace}"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestTransitionsOfAPath(t *testing.T) {
	on, _ := states()
	newer := clusters.State{
		Version: "1.36.1", RuntimeConfig: map[string]string{"api/all": "true"},
		Components: map[clusters.Component]clusters.ComponentState{
			clusters.APIServer: {FeatureGates: map[string]bool{"B": true}},
		},
	}
	for _, test := range []struct {
		before, after clusters.State
		want          string
	}{
		{on, on, "{}\n"},
		{on, newer, "components:\n  kube-apiserver:\n    featureGates:\n      B: true\n" +
			"featureGates:\n  A: null\nforce: true\n" +
			"runtimeConfig:\n  api/all: \"true\"\nversion: 1.36.1\n"},
	} {
		if got := yamlOf(transition(test.before, test.after)); got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}

// A path may reach a version twice. The names of the steps differ all the same.
func TestTheScenarioOfAPathWithARepeatedVersion(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	g.path = pathOf("1.34.4 1.35.4 1.36.3 1.35.4 1.34.4")
	twin := *g.smallest
	twin.written = true
	g.smallest = &twin
	if _, err := scenarios.LoadBytes("a.yaml", []byte(g.write(3*time.Second))); err != nil {
		t.Errorf("%v\n%s", err, g.write(3*time.Second))
	}
}

// The scenario of a twin writes the object at each state before the transition.
func TestTheScenarioOfATwin(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.34.4"}, {Version: "1.35.4"}}
	twin := ingress(t, path[0], path[1]).smallest
	twin.written = true
	e := &exploration{Options: Options{Path: path}, report: &explorations.Report{}}
	e.take([]*sighting{lossOf(twin, path, 2, "")})
	g := e.groups[0]
	g.path = e.shortest(g)
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write(3*time.Second)))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write(3*time.Second))
	}
	var verbs []string
	for _, step := range set.Scenarios[0].Spec.Steps {
		verbs = append(verbs, step.Verb())
	}
	if got := strings.Join(verbs, " "); got != "create patch transition patch transition survives" {
		t.Errorf("the steps are %s:\n%s", got, g.write(3*time.Second))
	}
}

// Scenarios that define the same kind need clusters of their own.
func TestTheScenarioOfACustomResource(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.34.4"}, {Version: "1.35.4"}}
	twin := ingress(t, path[0], path[1]).smallest
	e := &exploration{Options: Options{Path: path}, report: &explorations.Report{}}
	e.take([]*sighting{lossOf(twin, path, 2, "")})
	for _, definition := range []map[string]any{nil, {
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "samples.example.com"},
	}} {
		g := e.groups[0]
		g.path, g.definition = e.shortest(g), definition
		set, err := scenarios.LoadBytes("a.yaml", []byte(g.write(3*time.Second)))
		if err != nil {
			t.Fatalf("%v\n%s", err, g.write(3*time.Second))
		}
		if got, want := set.Scenarios[0].Spec.Exclusive, definition != nil; got != want {
			t.Errorf("exclusive is %t, want %t:\n%s", got, want, g.write(3*time.Second))
		}
	}
}
