package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// Options are what is tested, and on which clusters.
type Options struct {
	// Suite to run.
	Suite suites.Suite
	// Profile of the implementation; "" for every scenario of the suite.
	Profile string
	// Focus is a regular expression that the names of scenarios must match; "" for all.
	Focus string
	// Substitutes are tested instead of the suite's simulator.
	Substitutes []Substitute
	// Faults of the suite's simulator.
	Faults []string
	// Liberties of the suite's simulator.
	Liberties []string
	// Provider of the clusters.
	Provider clusters.Provider
	// Plan is how the scenarios are distributed over clusters.
	Plan harness.PlanOptions
}

// Plan is a suite that is ready to run: its harness plan, and the scenarios that are skipped.
type Plan struct {
	*harness.Plan

	options   Options
	selection *selection
	// readings are the scenarios that were planned to run after the plan itself; nil if there were none.
	readings *harness.Plan
}

// NewPlan selects the suite's scenarios for the implementation, and plans them. Scenarios that the provider does not
// support are skipped. Those that cannot be planned for another reason will make their requirements untested (see
// Unplanned). Its error says what is wrong with the options or why there is nothing to run.
func NewPlan(ctx context.Context, o Options) (*Plan, error) {
	selection, err := newSelection(o.Suite, o.Profile, o.Focus, o.Substitutes)
	if err != nil {
		return nil, err
	}
	if err := checkFaults(o.Suite, o.Faults); err != nil {
		return nil, err
	}
	if err := checkLiberties(o.Suite, o.Liberties); err != nil {
		return nil, err
	}
	selection.kept = o.simulated(selection.kept)
	if err := o.checkSimulated(selection.kept); err != nil {
		return nil, err
	}
	if len(selection.kept) == 0 && o.Focus != "" && len(selection.skipped) == 0 {
		_, err := planning.Filter(o.Suite.Scenarios, o.Focus, "")
		return nil, fmt.Errorf("suite %s: %w", o.Suite.Name,
			cmp.Or(err, fmt.Errorf("no scenario of profile %q has a name that matches --focus %q", o.Profile, o.Focus)))
	}
	if len(selection.kept) == 0 {
		for _, c := range selection.skipped {
			return nil, fmt.Errorf("no scenario of suite %s can run: %s: %s", o.Suite.Name, c.Title(),
				selection.why[c.Title()])
		}
		return nil, fmt.Errorf("suite %s has no scenario of profile %q", o.Suite.Name, o.Profile)
	}
	with := o.Plan
	for _, c := range selection.skipped {
		with.Skipped = append(with.Skipped, planning.Skipped{Scenario: c, Why: selection.why[c.Title()]})
	}
	plan, err := harness.NewPlan(ctx, o.Provider, selection.kept, with)
	if err != nil {
		if plan, err = planWhatCan(ctx, o.Provider, selection, with, err); err != nil {
			return nil, err
		}
	}
	return &Plan{Plan: plan, options: o, selection: selection}, nil
}

// checkFaults rejects faults that the suite's simulator does not have: its scenarios could not run with them, and their
// requirements would be untested.
func checkFaults(suite suites.Suite, faults []string) error {
	for _, name := range faults {
		if !slices.ContainsFunc(suite.Faults, func(f simulators.Fault) bool { return f.Name == name }) {
			return fmt.Errorf("the simulator of suite %s has no fault %q; rehearse faults %s lists them", suite.Name, name,
				suite.Name)
		}
	}
	return nil
}

// checkLiberties rejects liberties that the suite's simulator does not have.
func checkLiberties(suite suites.Suite, taken []string) error {
	for _, text := range taken {
		name, _, _ := strings.Cut(text, "=")
		if !slices.Contains(liberty.Names(suite.Liberties), name) {
			return fmt.Errorf("the simulator of suite %s has no liberty %q; rehearse faults %s lists them", suite.Name, name,
				suite.Name)
		}
	}
	return nil
}

// simulated are the scenarios with the simulator's faults and liberties.
func (o Options) simulated(list []*scenarios.Scenario) []*scenarios.Scenario {
	return suites.WithLiberties(suites.WithFaults(list, o.Suite.System, o.Faults), o.Suite.System, o.Liberties)
}

// checkSimulated rejects faults and liberties of a system that no scenario simulates: nothing would show that they have
// no effect.
func (o Options) checkSimulated(list []*scenarios.Scenario) error {
	if len(list) == 0 || len(o.Faults)+len(o.Liberties) == 0 || suites.Simulates(list, o.Suite.System) {
		return nil
	}
	return fmt.Errorf("suite %s: system %s is not simulated here, so it has no faults and no liberties", o.Suite.Name,
		o.Suite.System)
}

// planWhatCan leaves out the scenarios that cannot be planned. If no plan is possible without them, it returns the
// whole error.
func planWhatCan(ctx context.Context, provider clusters.Provider, selection *selection, with harness.PlanOptions,
	whole error,
) (*harness.Plan, error) {
	with.LeaveOut = true
	plan, err := harness.NewPlan(ctx, provider, selection.kept, with)
	if err != nil || ctx.Err() != nil {
		return nil, whole
	}
	for _, out := range plan.LeftOut {
		selection.leaveOut(out)
	}
	return plan, nil
}

// Unplanned returns a line for each scenario that cannot be planned although the provider supports what it needs, such
// as one with a mistake, or with a version that cannot be downloaded. Its requirements are untested.
func (p *Plan) Unplanned() []string {
	var lines []string
	for _, c := range p.selection.unplanned {
		lines = append(lines, fmt.Sprintf("%s: %s", c.Title(), p.selection.why[c.Title()]))
	}
	return lines
}

// Simulators for the plan's systems.
func (p *Plan) Simulators() systems.Simulators { return p.options.Plan.Simulators }
