package explore

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// prove writes a scenario for each finding, and runs it in a new cluster. Only what the scenario reproduces is a
// finding. If a scenario with one gate does not reproduce it, a scenario with all gates is tried, and the finding names
// no gate. If one that skips states does not, one with all states is tried.
func (e *exploration) prove(ctx context.Context) error {
	if err := e.proveThose(ctx, e.groups); err != nil {
		return err
	}
	var again []*group
	for _, g := range e.groups {
		if g.proof != explorations.NotShown {
			continue
		}
		if g.common != nil {
			g.route, g.common, g.gate = *g.common, nil, ""
			again = append(again, g)
		} else if whole := e.stretch(g); len(whole) > len(g.path) {
			g.path = whole
			again = append(again, g)
		}
	}
	return e.proveThose(ctx, again)
}

func (e *exploration) proveThose(ctx context.Context, groups []*group) error {
	var all []*scenarios.Scenario
	byName := map[string]*group{}
	for _, g := range groups {
		if g.smallest == nil || g.broken() {
			continue
		}
		g.number, g.definition = slices.Index(e.groups, g)+1, e.customs.definition(g.smallest.Kind)
		g.scenario = g.write(e.Settle)
		if byName[g.name()] != nil {
			continue
		}
		set, err := scenarios.LoadBytes(g.name()+".yaml", []byte(g.scenario))
		if err != nil {
			e.report.Notes = append(e.report.Notes, fmt.Sprintf("the scenario of finding %s is not valid: %v", g.id(), err))
			continue
		}
		byName[g.name()] = g
		all = append(all, set.Scenarios...)
	}
	if !e.Prove || len(all) == 0 {
		return nil
	}
	e.Progress("running the scenarios of %d findings in new clusters", len(all))
	run, err := e.runAll(ctx, all)
	if err != nil {
		return err
	}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if g := byName[s.Name]; g != nil {
				g.proof = proofOf(s)
			}
		}
	}
	return nil
}

func (e Options) runAll(ctx context.Context, all []*scenarios.Scenario) (*reports.Run, error) {
	with := harness.PlanOptions{Simulators: e.Systems.Simulators, Modules: e.Systems.Modules}
	plan, err := harness.NewPlan(ctx, e.Provider, all, with)
	if err != nil { // for example, two scenarios create the same cluster-scoped object
		with.NoSharing = true
		plan, err = harness.NewPlan(ctx, e.Provider, all, with)
	}
	if err != nil {
		return nil, fmt.Errorf("plan the scenarios of the findings: %w", err)
	}
	dir, remove, err := scratch.Folder("explore")
	if err != nil {
		return nil, fmt.Errorf("run the scenarios of the findings: %w", err)
	}
	defer func() { _ = remove() }() // the next run tries again
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	if err := harness.Execute(ctx, plan, harness.Options{Recorder: recorder, ReportDir: dir}); err != nil {
		return nil, fmt.Errorf("run the scenarios of the findings: %w", err)
	}
	return recorder.Run(), nil
}

// proofOf reports whether a scenario reproduced its finding: its step "survives" failed.
func proofOf(s *reports.Scenario) explorations.Proof {
	for _, step := range s.Steps {
		switch {
		case step.Verb == "survives" && step.Status == reports.Failed:
			return explorations.Shown
		case step.Status == reports.Error:
			return explorations.NotTried
		}
	}
	return explorations.NotShown
}
