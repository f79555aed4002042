package local_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCheckRejectsProfilesThatTheVersionDoesNotKnow(t *testing.T) {
	p := clustertest.Local(t)
	of := func(minor string, gates map[string]bool) clusters.State {
		state, err := p.Resolve(t.Context(),
			clusters.State{Version: minor, FeatureGates: gates, SchedulerProfiles: []map[string]any{
				{"schedulerName": "default-scheduler", "plugins": map[string]any{"placementScore": map[string]any{}}},
			}})
		golden.Must(t, err)
		return state
	}
	known, unknown := of("1.36", nil), of("1.35", nil)
	if err := p.Check(t.Context(), []clusters.State{known}); err != nil {
		t.Errorf("1.36 knows the field: %v", err)
	}
	err := p.Check(t.Context(), []clusters.State{known, unknown})
	golden.Error(t, err, `kube-scheduler of Kubernetes 1.35`, `unknown field "schedulerProfiles[0].plugins.placementScore"`)
	// A wrong gate is reported once, by the check of gates, and not again by kube-scheduler.
	err = p.Check(t.Context(), []clusters.State{of("1.35", map[string]bool{"NoSuchGate": true})})
	if err == nil || strings.Contains(err.Error(), "unrecognized") || !strings.Contains(err.Error(), "NoSuchGate") {
		t.Errorf("a wrong gate: %v", err)
	}
}
