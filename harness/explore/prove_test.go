package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// played is the result of the steps create, transition and survives.
func played(statuses ...reports.Status) *reports.Scenario {
	s := &reports.Scenario{}
	for i, verb := range []string{"create", "transition", "survives"} {
		s.Steps = append(s.Steps, &reports.Step{Verb: verb, Status: statuses[i]})
	}
	return s
}

// Only a scenario that gets as far as its last step shows whether the finding is one.
func TestProofOf(t *testing.T) {
	const passed, failed, wrong, not = reports.Passed, reports.Failed, reports.Error, reports.NotRun
	for _, test := range []struct {
		name     string
		scenario *reports.Scenario
		want     explorations.Proof
		rejected bool
	}{
		{"it breaks", played(passed, passed, failed), explorations.Shown, false},
		{"it survives", played(passed, passed, passed), explorations.NotShown, false},
		{"it could not be judged", played(passed, passed, wrong), explorations.NotTried, false},
		{"the cluster could not be created", played(not, not, not), explorations.NotTried, false},
		{"the object was rejected", played(failed, not, not), explorations.NotTried, true},
		{"nobody knows whether it was created", played(wrong, not, not), explorations.NotTried, false},
		{"a component died between the steps", played(passed, passed, not), explorations.NotTried, false},
		{"the scenario went on without the object", played(failed, passed, failed), explorations.NotTried, true},
		{"it has no steps", &reports.Scenario{}, explorations.NotTried, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			proof, rejected := proofOf(test.scenario)
			if proof != test.want || rejected != test.rejected {
				t.Errorf("got %q, rejected: %t", proof, rejected)
			}
		})
	}
}

// A finding whose object was rejected is tried again alone, then on its common route. It is dropped only if its
// scenario ran to its end.
func TestARejectedProofIsRunAgain(t *testing.T) {
	const passed, failed, not = reports.Passed, reports.Failed, reports.NotRun
	rejected, shown := played(failed, not, not), played(passed, passed, failed)
	for _, test := range []struct {
		name string
		// gate says that the first route has the finding's own gate only.
		gate    bool
		results []*reports.Scenario
		// runs are "shared" or "alone".
		runs  string
		proof explorations.Proof
	}{
		{"shown at once", false, []*reports.Scenario{shown}, "shared", explorations.Shown},
		{"another scenario had its port", false, []*reports.Scenario{rejected, shown}, "shared alone", explorations.Shown},
		{"it is always rejected", false, []*reports.Scenario{rejected, rejected}, "shared alone", explorations.NotTried},
		{
			"it needs a second gate", true,
			[]*reports.Scenario{rejected, rejected, shown},
			"shared alone shared", explorations.Shown,
		},
		{
			"it survives with one gate, and the other proof never runs", true,
			[]*reports.Scenario{played(passed, passed, passed), played(not, not, not)},
			"shared shared", explorations.NotTried,
		},
		{
			"it survives", true,
			[]*reports.Scenario{played(passed, passed, passed), played(passed, passed, passed)},
			"shared shared", explorations.NotShown,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			on, off := states()
			g := ingress(t, on, off)
			if test.gate {
				common := g.route
				g.common, g.gate = &common, "A"
			}
			e := &exploration{
				Options: Options{Prove: true, Progress: t.Logf, Path: []clusters.State{on, off}},
				groups:  []*group{g}, report: &explorations.Report{},
			}
			var runs []string
			run := func(_ context.Context, all []*scenarios.Scenario, alone bool) (*reports.Run, error) {
				if len(all) != 1 || len(runs) >= len(test.results) {
					return nil, fmt.Errorf("run %d has %d scenarios", len(runs)+1, len(all))
				}
				result := test.results[len(runs)]
				result.Name = all[0].Metadata.Name
				runs = append(runs, map[bool]string{false: "shared", true: "alone"}[alone])
				return &reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{result}}}}, nil
			}
			golden.Must(t, e.prove(t.Context(), run))
			if got := strings.Join(runs, " "); got != test.runs || g.proof != test.proof {
				t.Errorf("got the runs %q and %q", got, g.proof)
			}
			e.conclude()
			if dropped := test.proof == explorations.NotShown; (len(e.report.Dropped) == 1) != dropped ||
				(len(e.report.Findings) == 0) != dropped {
				t.Errorf("%d findings, %d dropped", len(e.report.Findings), len(e.report.Dropped))
			}
		})
	}
}
