package harness_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
)

// A scenario that needs what the provider does not support is skipped, which does not count as passed.
func TestNeeds(t *testing.T) {
	needy := scenario("needy", "  - exec: {pod: p, run: [a]}\n", "needs: [exec, snapshots]")
	p := &helpless{}
	p.t = t
	plan := planned(t, p, needy+scenario("plain", makeMap("a")), harness.PlanOptions{})
	const why = "it needs exec and snapshots, which provider fake does not support"
	contains(t, plan.String(), "skipped: scenario needy (test.yaml:2:1): "+why, "1 scenario on 1 cluster")
	run := executed(t, plan, harness.Options{})
	if s := find(t, run, "needy"); s.Status != reports.Skipped || s.Message != why || statuses(s.Steps) != "notRun" {
		t.Errorf("%s (%s): %s", s.Status, statuses(s.Steps), s.Message)
	}
	if counts := reports.Count(run).String(); counts != "1 passed, 0 failed, 1 skipped" {
		t.Errorf("counted as %s", counts)
	}
	if code := reports.ExitCode(run); code != reports.ExitPassed {
		t.Errorf("exit code %d", code)
	}
}

func TestNothingButSkipped(t *testing.T) {
	_, err := harness.NewPlan(t.Context(), &helpless{}, load(t, scenario("needy", makeMap("a"), "needs: [exec]")),
		harness.PlanOptions{})
	if err == nil {
		t.Fatal("a run of nothing was planned")
	}
	contains(t, err.Error(), "test.yaml:2:1: scenario needy cannot be run: it needs exec")
	// A Go test shows it as a skipped subtest.
	p := &helpless{}
	p.t = t
	plan := planned(t, p, scenario("needy", makeMap("a"), "needs: [exec]"), harness.PlanOptions{MayBeIdle: true})
	if s := find(t, executed(t, plan, harness.Options{}), "needy"); s.Status != reports.Skipped || len(plan.Skipped) != 1 {
		t.Errorf("%s, %d skipped", s.Status, len(plan.Skipped))
	}
}

// A scenario is not skipped if the provider cannot find out what a cluster would have.
func TestNeedsThePodImage(t *testing.T) {
	needy := scenario("needy", makeMap("a"), "needs: [podImage]") + scenario("plain", makeMap("a"))
	for name, test := range map[string]struct {
		provider clusters.Provider
		skipped  int
	}{
		"it has it":         {&holder{has: true}, 0},
		"it lacks it":       {&holder{}, 1},
		"it could not look": {&holder{err: errors.New("no engine")}, 0},
	} {
		plan, err := harness.NewPlan(t.Context(), test.provider, load(t, needy), harness.PlanOptions{})
		if err != nil || len(plan.Skipped) != test.skipped {
			t.Errorf("%s: %v, %v", name, plan, err)
		}
	}
}

type holder struct {
	provider
	has bool
	err error
}

func (h *holder) Has(context.Context, clusters.Ability, clusters.State) (bool, error) {
	return h.has, h.err
}
