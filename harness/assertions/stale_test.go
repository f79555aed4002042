package assertions

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// workload returns the fields of an object with a generation and a status.
func workload(generation int64, status map[string]any) []any {
	return []any{"generation", generation, "status", status}
}

func ready4() map[string]any { return map[string]any{"status": map[string]any{"readyReplicas": 4}} }

func condition(kind, status string, generation int64) map[string]any {
	return map[string]any{"type": kind, "status": status, "observedGeneration": generation}
}

func TestAStatusOfYesterdayDecidesNothing(t *testing.T) {
	isReady := map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type":   "Ready",
		"status": "True",
	}}}}
	old := map[string]any{"observedGeneration": int64(3), "readyReplicas": int64(4), "ready": true}
	oldConditions := map[string]any{"conditions": []any{condition("Ready", "True", 3), condition("Other", "False", 4)}}
	none := scenarios.Assertion{Match: map[string]any{"status": map[string]any{"readyReplicas": 3}}, Absent: true}
	for _, tt := range []struct {
		name      string
		assertion scenarios.Assertion
		status    map[string]any
		want      reports.Status
	}{
		{"stale-match", scenarios.Assertion{Match: ready4()}, old, reports.Failed},
		{
			"stale-text",
			scenarios.Assertion{CEL: "object.status.ready"},
			map[string]any{"observedGeneration": "3", "ready": true},
			reports.Failed,
		},
		{
			"a current one as text",
			scenarios.Assertion{CEL: "object.status.ready"},
			map[string]any{"observedGeneration": "4", "ready": true},
			reports.Passed,
		},
		{"stale-cel", scenarios.Assertion{CEL: "object.status.ready"}, old, reports.Failed},
		{"stale-all", scenarios.Assertion{CEL: "objects.status.ready"}, old, reports.Failed},
		{"stale-absent", none, old, reports.Failed},
		{"stale-condition", scenarios.Assertion{Match: isReady}, oldConditions, reports.Failed},
		{"allowed", scenarios.Assertion{Match: ready4(), Stale: scenarios.Allowed}, old, reports.Passed},
		{
			"another condition",
			scenarios.Assertion{Match: map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Other"}}}}},
			oldConditions, reports.Passed,
		},
		{"current", scenarios.Assertion{Match: ready4()}, map[string]any{
			"observedGeneration": int64(4),
			"readyReplicas":      int64(4),
		}, reports.Passed},
		{"no generation", scenarios.Assertion{Match: ready4()}, map[string]any{"readyReplicas": int64(4)}, reports.Passed},
		{"not about the status", scenarios.Assertion{Match: map[string]any{"kind": "Service"}}, old, reports.Passed},
		{
			"compared by the author",
			scenarios.Assertion{Match: map[string]any{"status": map[string]any{"observedGeneration": 3}}},
			old, reports.Passed,
		},
		{"not by a look back", scenarios.Assertion{Match: map[string]any{
			"metadata": map[string]any{"name": "other"},
			"status":   map[string]any{"readyReplicas": 3},
		}, Absent: true}, old, reports.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", workload(4, tt.status)...)
			f.observe()
			result := f.begun(Eventually, tt.assertion).after(5 * time.Second)
			check(t, result, tt.want)
			if tt.want == reports.Failed {
				matchesFile(t, tt.name, result.Message)
			}
		})
	}
}

func TestACurrentStatusIsWaitedFor(t *testing.T) {
	f := newFixture(t)
	f.put("web", workload(4, map[string]any{"observedGeneration": int64(3), "readyReplicas": int64(4)})...)
	f.observe()
	r := f.begun(Eventually, scenarios.Assertion{Match: ready4()})
	f.put("web", workload(4, map[string]any{"observedGeneration": int64(4), "readyReplicas": int64(3)})...)
	f.clock.Step(time.Second)
	at := f.clock.Now()
	f.put("web", workload(4, map[string]any{"observedGeneration": int64(4), "readyReplicas": int64(4)})...)
	result := <-r.result
	check(t, result, reports.Passed)
	if !result.EventAt.Equal(at) {
		t.Errorf("decided at %v, want by the current status at %v", result.EventAt, at)
	}
}

func TestOnlyEventuallyWaitsForACurrentStatus(t *testing.T) {
	f := newFixture(t)
	f.put("web", workload(4, map[string]any{"observedGeneration": int64(3), "readyReplicas": int64(4)})...)
	f.observe()
	check(t, f.begun(Always, scenarios.Assertion{
		Match: ready4(),
		For:   scenarios.Duration(time.Second),
	}).after(time.Second), reports.Passed)
}

func TestStaleStatus(t *testing.T) {
	for _, tt := range []struct {
		name, apiVersion, kind string
		generation             int64
		status                 map[string]any
		deleted                bool
		want                   string
	}{
		{
			"nothing written yet", "apps/v1", "Deployment", 1, nil, false,
			"the object is of generation 1, its controller has not written a status yet",
		},
		{"nothing written by a kind without", "v1", "Service", 1, nil, false, ""},
		{
			"older", "example.com/v1", "Thing", 3,
			map[string]any{"observedGeneration": int64(2)},
			false,
			"status is of generation 2, the object is at 3",
		},
		{
			"deletion makes a generation", "example.com/v1", "Thing", 3,
			map[string]any{"observedGeneration": int64(2)},
			true,
			"",
		},
		{"no generations at all", "example.com/v1", "Thing", 0, map[string]any{"observedGeneration": int64(2)}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": tt.apiVersion, "kind": tt.kind,
				"metadata": map[string]any{"generation": tt.generation},
			}}
			if tt.status != nil {
				object.Object["status"] = tt.status
			}
			if tt.deleted {
				object.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2024-01-02T03:04:05Z"
			}
			if got := staleStatus(object); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// An expression about all objects is evaluated twice: with all conditions, and without the stale ones.
func TestConditionsOfYesterdayAmongAll(t *testing.T) {
	asked := 0
	cel := func(_ string, variables map[string]any) (bool, error) {
		asked++
		for _, object := range variables["objects"].([]any) {
			if len(conditionsOf(&unstructured.Unstructured{Object: object.(map[string]any)})) == 0 {
				return false, nil
			}
		}
		return true, nil
	}
	var view history.View
	for _, name := range []string{"a", "b", "c"} {
		generation := int64(2)
		if name == "b" {
			generation = 1
		}
		view.Objects = append(view.Objects, &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name, "generation": int64(2)},
			"status":   map[string]any{"conditions": []any{condition("Ready", "True", generation)}},
		}})
	}
	j := newJudge(Input{Assertion: scenarios.Assertion{CEL: "objects.all(o, o.status.conditions.size() > 0)"}, CEL: cel})
	j.current = true
	j.begin(view)
	if asked != 2 || j.matched != 0 || j.undecided != 3 {
		t.Errorf("asked %d times, %d match and %d are undecided; want 2, 0 and 3", asked, j.matched, j.undecided)
	}
	for _, c := range j.candidates {
		if c.stale != "b: condition Ready is of generation 1, the object is at 2" &&
			c.stale != "condition Ready is of generation 1, the object is at 2" {
			t.Errorf("%s: %q", c.object.GetName(), c.stale)
		}
	}
}
