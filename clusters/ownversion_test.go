package clusters_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

func TestOwnVersions(t *testing.T) {
	change := func(version, own string) clusters.Change {
		c := clusters.Change{Version: version}
		if own != "" {
			c.Components = map[clusters.Component]*clusters.ComponentChange{clusters.ControllerManager: {Version: own}}
		}
		return c
	}
	state := clusters.State{Version: "1.35"}
	for i, step := range []struct {
		change clusters.Change
		// manager is the version of the controller manager after the change, text the whole state.
		manager, text string
	}{
		{change("", "1.36"), "1.36", "1.35 kube-controller-manager:version=1.36"},
		{change("1.36", ""), "1.36", "1.36"},
		{change("1.35", ""), "1.35", "1.35"},
		{change("1.36", "1.35"), "1.35", "1.36 kube-controller-manager:version=1.35"},
		{change("1.37", ""), "1.35", "1.37 kube-controller-manager:version=1.35"},
		{change("", "1.37"), "1.37", "1.37"},
	} {
		state = state.With(step.change)
		got := state.VersionOf(clusters.ControllerManager.On(1))
		if got != step.manager || state.String() != step.text {
			t.Errorf("step %d: the controller manager runs %s in %s; want %s in %s", i, got, state, step.manager, step.text)
		}
		if of := state.VersionOf(clusters.Scheduler); of != state.Version {
			t.Errorf("step %d: the scheduler runs %s, not %s", i, of, state.Version)
		}
	}
	gates := map[clusters.Component]clusters.ComponentState{
		clusters.ControllerManager: {Version: "1.35.4", FeatureGates: map[string]bool{"A": true}},
	}
	exact, err := clusters.State{Version: "1.35.4", Components: gates}.ResolveOwnVersions(
		func(version string) (string, error) { return version, nil })
	if text := exact.String(); err != nil || text != "1.35.4 kube-controller-manager:A=true" {
		t.Errorf("resolved to %s, %v", text, err)
	}
	if gates[clusters.ControllerManager].Version == "" {
		t.Error("the state that was resolved has changed")
	}
}

func TestCheckOwnVersions(t *testing.T) {
	for want, state := range map[string]clusters.State{
		"": {Version: "1.36.3", EmulatedVersion: "1.35", Components: map[clusters.Component]clusters.ComponentState{
			clusters.Scheduler: {Version: "1.35.4"},
		}},
		"component kube-apiserver: only kube-controller-manager and kube-scheduler can": {
			Version: "1.36.3", Components: map[clusters.Component]clusters.ComponentState{
				clusters.APIServer: {Version: "1.35.4"},
			},
		},
		"component kube-scheduler: emulatedVersion: Kubernetes 1.34.4 takes 1.31 to 1.34, not 1.35": {
			Version: "1.36.3", EmulatedVersion: "1.35", Components: map[clusters.Component]clusters.ComponentState{
				clusters.Scheduler: {Version: "1.34.4"},
			},
		},
	} {
		var texts []string
		for _, err := range state.CheckOwnVersions() {
			texts = append(texts, err.Error())
		}
		if got := strings.Join(texts, "; "); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", state, got, want)
		}
	}
}
