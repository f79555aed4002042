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
func (e *exploration) prove(ctx context.Context, run runner) error {
	p := &prover{exploration: e, play: run}
	if err := p.proveThose(ctx, e.groups); err != nil {
		return err
	}
	var again []*group
	for _, g := range e.groups {
		if g.proof != explorations.NotShown && !g.rejected {
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
	return p.proveThose(ctx, again)
}

// runner runs scenarios. If they are alone, each of them has a cluster of its own.
type runner func(ctx context.Context, all []*scenarios.Scenario, alone bool) (*reports.Run, error)

// prover runs the scenarios of findings.
type prover struct {
	*exploration
	play runner
}

// proveThose writes and runs the scenarios of some findings. A scenario with a step that was rejected may have been
// disturbed by another one, for example by one that has the same node port: it is run once more, alone.
func (p *prover) proveThose(ctx context.Context, groups []*group) error {
	all := p.write(groups)
	if !p.Prove || len(all) == 0 {
		return nil
	}
	p.Progress("running the scenarios of %d findings in new clusters", len(all))
	if err := p.runThose(ctx, all, false); err != nil {
		return err
	}
	rejected := slices.DeleteFunc(all, func(one proof) bool { return !one.group.rejected })
	if len(rejected) == 0 {
		return nil
	}
	p.Progress("running the scenarios of %d findings again, each in a cluster of its own", len(rejected))
	return p.runThose(ctx, rejected, true)
}

// proof is a finding and its scenario.
type proof struct {
	group    *group
	scenario *scenarios.Scenario
}

// write writes the scenarios of some findings. None of them has run yet.
func (p *prover) write(groups []*group) []proof {
	var all []proof
	names := map[string]bool{}
	for _, g := range groups {
		if g.smallest == nil || g.broken() {
			continue
		}
		g.number, g.definition = slices.Index(p.groups, g)+1, p.customs.definition(g.smallest.Kind)
		g.scenario = g.write(p.Settle)
		if names[g.name()] {
			continue
		}
		names[g.name()], g.proof, g.rejected = true, explorations.NotTried, false
		set, err := scenarios.LoadBytes(g.name()+".yaml", []byte(g.scenario))
		if err != nil {
			p.report.Notes = append(p.report.Notes, fmt.Sprintf("the scenario of finding %s is not valid: %v", g.id(), err))
			continue
		}
		for _, one := range set.Scenarios {
			all = append(all, proof{group: g, scenario: one})
		}
	}
	return all
}

// runThose runs the scenarios of findings, and records what they show.
func (p *prover) runThose(ctx context.Context, all []proof, alone bool) error {
	var them []*scenarios.Scenario
	byName := map[string]*group{}
	for _, one := range all {
		them = append(them, one.scenario)
		byName[one.group.name()] = one.group
	}
	run, err := p.play(ctx, them, alone)
	if err != nil {
		return err
	}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if g := byName[s.Name]; g != nil {
				g.proof, g.rejected = proofOf(s)
			}
		}
	}
	return nil
}

func (e Options) runAll(ctx context.Context, all []*scenarios.Scenario, alone bool) (*reports.Run, error) {
	with := harness.PlanOptions{Simulators: e.Systems.Simulators, Modules: e.Systems.Modules, NoSharing: alone}
	plan, err := harness.NewPlan(ctx, e.Provider, all, with)
	if err != nil && !alone { // for example, two scenarios create the same cluster-scoped object
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

// proofOf reports whether a scenario reproduced its finding: its step "survives" failed. A scenario that does not get
// as far as that step shows nothing. rejected says that a step before it failed, such as the creation of the object.
func proofOf(s *reports.Scenario) (proof explorations.Proof, rejected bool) {
	for _, step := range s.Steps {
		switch {
		case step.Verb != "survives" && step.Status == reports.Passed:
			continue
		case step.Verb != "survives":
			return explorations.NotTried, step.Status == reports.Failed
		case step.Status == reports.Failed:
			return explorations.Shown, false
		case step.Status == reports.Passed:
			return explorations.NotShown, false
		}
	}
	return explorations.NotTried, false
}
