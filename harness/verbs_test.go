package harness

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/window"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The table has an entry for each verb of the language, and no other.
func TestEachVerbRuns(t *testing.T) {
	want := slices.Sorted(slices.Values(scenarios.Verbs()))
	got := slices.Sorted(maps.Keys(verbs()))
	if !slices.Equal(want, got) {
		t.Errorf("the language has the verbs\n%v\nthe harness runs\n%v\nrun go generate ./harness", want, got)
	}
	for name, verb := range verbs() {
		if verb.run == nil {
			t.Errorf("%s is in the table, but does nothing", name)
		}
	}
}

// The window checks that scenarios can name are exactly those that the harness makes.
func TestWindowChecks(t *testing.T) {
	want, got := slices.Sorted(slices.Values(scenarios.WindowChecks())), slices.Sorted(slices.Values(window.Checks()))
	if !slices.Equal(want, got) {
		t.Errorf("the language has the checks\n%v\nthere are\n%v", want, got)
	}
}

// A step whose verb is unknown is an error, and nothing is sent.
func TestUnknownVerb(t *testing.T) {
	step := scenarios.Step{}
	r := verbOf(&step).run(t.Context(), nil, 0, step)
	if r.Status != reports.Error || !strings.Contains(r.Message, "does not know how to run") {
		t.Errorf("%s: %s", r.Status, r.Message)
	}
}
