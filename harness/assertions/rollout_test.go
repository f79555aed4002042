package assertions

import (
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// thing returns a generation and a status with one condition, for a kind that Kubernetes does not know.
func thing(generation, observed int64, kind, status string) []any {
	return workload(generation, map[string]any{
		"observedGeneration": observed,
		"conditions":         []any{map[string]any{"type": kind, "status": status}},
	})
}

func TestRolledOut(t *testing.T) {
	for _, tt := range []struct {
		name   string
		during func(*fixture)
		want   reports.Status
	}{
		{"rolled-out", func(f *fixture) { f.put("web", thing(2, 2, "Ready", "True")...) }, reports.Passed},
		{"rolled-out-not", func(f *fixture) { f.put("web", thing(2, 2, "Ready", "False")...) }, reports.Failed},
		{"rolled-out-stale", func(*fixture) {}, reports.Failed},
		{"rolled-out-unknown", func(f *fixture) { f.put("web", thing(2, 2, "Healthy", "True")...) }, reports.Error},
		{"rolled-out-not-beside-unknown", func(f *fixture) {
			f.put("db", thing(1, 1, "Healthy", "True")...)
			f.put("web", thing(2, 2, "Ready", "False")...)
		}, reports.Failed},
		{"rolled-out-none", func(f *fixture) { f.delete("db"); f.delete("web") }, reports.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", thing(2, 1, "Ready", "True")...)
			f.put("db", thing(1, 1, "Ready", "True")...)
			f.observe()
			r := f.begun(RolledOut,
				scenarios.Assertion{Selection: scenarios.Selection{ObjectReference: scenarios.ObjectReference{APIVersion: "example.com/v1"}}})
			f.clock.Step(time.Second)
			tt.during(f)
			result := r.after(5 * time.Second)
			check(t, result, tt.want)
			matchesFile(t, tt.name, result.Message)
		})
	}
}

func TestRolledOutOfWhatNeverIs(t *testing.T) {
	f := newFixture(t)
	f.put("web")
	f.observe()
	result := RolledOut(t.Context(), Input{
		Assertion: scenarios.Assertion{Selection: scenarios.Selection{ObjectReference: scenarios.ObjectReference{APIVersion: "v1", Kind: "ConfigMap"}}},
		Stream:    f.stream, Clock: f.clock,
	})
	check(t, result, reports.Error)
}
