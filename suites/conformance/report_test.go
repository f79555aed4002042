package conformance

import (
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

// The step of a known issue may cover a requirement that the issue does not name. That requirement is not met either. A
// requirement whose steps come later was not tested.
func TestKnownIssueOfASharedStep(t *testing.T) {
	o := outcomeOf(&reports.Scenario{
		Name: "s", Status: reports.Known, KnownCovers: []string{"A"}, Covers: []string{"A", "B", "C"},
		Steps: []*reports.Step{
			{Name: "both", Status: reports.Known, Covers: []string{"A", "B"}},
			{Name: "later", Status: reports.NotRun, Covers: []string{"C"}},
		},
	})
	for id, want := range map[string]conformances.Evidence{
		"A": {Known: []string{"s"}}, "B": {Known: []string{"s"}}, "C": {Ended: []string{"s"}},
	} {
		var got conformances.Evidence
		o.addTo(&got, id)
		if len(got.Known) != len(want.Known) || len(got.Ended) != len(want.Ended) {
			t.Errorf("%s: got %+v, want %+v", id, got, want)
		}
	}
}

// A failed step that covers other requirements fails only those, also if no step is without requirements.
func TestFailedStepOfAnotherRequirement(t *testing.T) {
	o := outcomeOf(&reports.Scenario{
		Name: "s", Status: reports.Failed, Covers: []string{"A", "B"},
		Steps: []*reports.Step{
			{Name: "first", Status: reports.Passed, Covers: []string{"A"}},
			{Name: "second", Status: reports.Failed, Covers: []string{"A"}},
		},
	})
	for id, want := range map[string]conformances.Status{"A": conformances.Failed, "B": conformances.Untested} {
		if got, _ := o.about(id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}
