package harness

import (
	"context"
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

// A look that is older than the end of the time does not decide.
func TestRepeatLooksOnceMore(t *testing.T) {
	for name, test := range map[string]struct {
		last try
		want reports.Status
	}{
		"as expected":       {try{}, reports.Passed},
		"still wrong":       {try{problem: "wrong"}, reports.Failed},
		"it could not look": {try{problem: "the time is up", undecided: true}, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			looks := []try{{problem: "wrong"}, test.last}
			got := repeat(ctx, func(string) { cancel() }, func() try {
				look := looks[0]
				looks = looks[1:]
				return look
			})
			if got.Status != test.want || len(looks) > 0 {
				t.Errorf("%s: %s, %d looks are left", got.Status, got.Message, len(looks))
			}
		})
	}
}
