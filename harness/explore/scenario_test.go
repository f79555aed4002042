package explore

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func TestTheScenarioOfAFinding(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write()))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write())
	}
	steps := set.Scenarios[0].Spec.Steps
	if len(steps) != 3 || steps[0].Create == nil || steps[1].Transition == nil || steps[2].Survives == nil {
		t.Errorf("steps:\n%s", g.write())
	}
	if except := strings.Join(steps[2].Survives.Except, " "); strings.Contains(except, "update") ||
		strings.Contains(except, "label") || !strings.Contains(except, "create") {
		t.Errorf("it leaves out %s", except)
	}
}

func TestTheScenarioEscapesExpressions(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	g.smallest.Body = growth.Text(map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
		"metadata": map[string]any{"name": growth.Placeholder, "namespace": "explore"},
		"spec":     map[string]any{"ingressClassName": "${namespace}"},
	})
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write()))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write())
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
			t.Errorf("%s\nwant\n%s", got, test.want)
		}
	}
}
