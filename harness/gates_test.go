package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
)

// gateLines returns a scenario's gates, one state per line.
func gateLines(s *reports.Scenario) string {
	var all []string
	for _, state := range s.StateGates {
		all = append(all, state.String())
	}
	return strings.Join(all, "\n")
}

// In each state, the gates that a scenario sets in any state, and the gates that they need, are read from the
// components' metrics.
func TestStateGates(t *testing.T) {
	var on atomic.Int32
	p := &provider{needs: map[string][]string{"A": {"Base"}, "Late": {"A"}}}
	p.metrics = func() (string, error) {
		return fmt.Sprintf("kubernetes_feature_enabled{name=\"A\",stage=\"BETA\"} "+
			"%d\nkubernetes_feature_enabled{name=\"Base\",stage=\"\"} 1\n", on.Load()), nil
	}
	p.converge = func(_ context.Context, state clusters.State) error {
		on.Store(0)
		if state.FeatureGates["A"] {
			on.Store(1)
		}
		return nil
	}
	flip := func(to string) string { return "  - transition: {featureGates: {" + to + "}}\n" }
	rider := scenario("rider", makeMap("a")+flip("A: true")+makeMap("b"))
	text := rider + scenario("whole", makeMap("a")+flip("A: true")+makeMap("b")+flip("A: null, Late: true")) +
		scenario("plain", makeMap("a")+transition("1.35"))
	run := ran(t, p, text, harness.Options{})
	const all = "kube-apiserver, kube-controller-manager, kube-scheduler"
	a := func(value bool, metric int) string {
		return fmt.Sprintf("1.34.4: A=%t (Beta; %s: metric kubernetes_feature_enabled %d)", value, all, metric)
	}
	const base = ", Base=true (needed by A; GA; " + all + ": metric kubernetes_feature_enabled 1)"
	const late = ", Late not proven (" + all + ": Kubernetes 1.34.4 has no such gate there)"
	for name, want := range map[string]string{
		"rider": a(false, 0) + base + "\n" + a(true, 1) + base,
		"whole": a(false, 0) + late + base + "\n" + a(true, 1) + late + base + "\n" + a(false, 0) + late + base,
		"plain": "",
	} {
		if got := gateLines(find(t, run, name)); got != want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", name, got, want)
		}
	}
}

// A gate that cannot be read is reported with the reason. The scenario does not fail.
func TestStateGatesNotProven(t *testing.T) {
	for name, test := range map[string]struct {
		metrics func() (string, error)
		want    string
	}{
		"no metrics": {func() (string, error) { return "", errors.New("403 Forbidden") }, "403 Forbidden"},
		"no gates": {
			func() (string, error) { return "kubernetes_build_info{} 1\n", nil },
			"its metrics have no kubernetes_feature_enabled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(scenario("s", makeMap("a")), `version: "1.34"`, `version: "1.34", featureGates: {A: true}`,
				1)
			run := ran(t, &provider{metrics: test.metrics}, text, harness.Options{})
			s := find(t, run, "s")
			if got, want := gateLines(s), "1.34.4: A not proven (kube-apiserver, kube-controller-manager, kube-scheduler: "+
				test.want+")"; got != want || s.Status != reports.Passed {
				t.Errorf("%s: got\n%s\nwant\n%s", s.Status, got, want)
			}
		})
	}
}

// The gates of a cluster that broke as expected are not proven.
func TestStateGatesOfABrokenCluster(t *testing.T) {
	p := &provider{converge: func(context.Context, clusters.State) error {
		return &clusters.BrokenError{
			Component: clusters.APIServer, Words: "unrecognized feature gate: A",
			Err: errors.New("it ended"),
		}
	}}
	text := scenario("s", makeMap("a")+"  - transition: {featureGates: {A: true}, expect: {broken: {component: "+
		"kube-apiserver, message: unrecognized}}}\n")
	run := ran(t, p, text, harness.Options{})
	s := find(t, run, "s")
	if got := gateLines(s); !strings.HasSuffix(got, "\n1.34.4: A not proven (kube-apiserver, kube-controller-manager, "+
		"kube-scheduler: the cluster is broken, as the transition expects)") || s.Status != reports.Passed {
		t.Errorf("%s, %s:\n%s", s.Status, s.Message, got)
	}
}
