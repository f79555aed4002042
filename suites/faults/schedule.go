package faults

import (
	"cmp"
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// group is scenarios that share a cluster: running them together costs little more than running one of them.
type group struct {
	scenarios []*scenarios.Scenario
	// states that the cluster goes through.
	states int
}

// groupsOf are the groups of a plan.
func groupsOf(plan *harness.Plan) []group {
	var all []group
	for _, track := range plan.Tracks {
		g := group{states: len(track.Path)}
		for _, entry := range track.Entries {
			g.scenarios = append(g.scenarios, entry.Scenario)
		}
		all = append(all, g)
	}
	return all
}

// covers are those of some requirements that the group's scenarios cover.
func (g group) covers(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !slices.ContainsFunc(g.scenarios, func(s *scenarios.Scenario) bool { return slices.Contains(s.Spec.Covers, id) })
	})
}

// trial is a fault with what was run of it, and what could be.
type trial struct {
	fault simulators.Fault
	// left are groups that were not run yet, of scenarios without the fault.
	left []group
	ran  []*reports.Scenario
}

func (t *trial) row() Row { return newRow(t.fault, t.ran) }

// choose takes the group out of those that are left that covers most of some requirements; of several the one with the shortest path. It is
// false when none covers any.
func (t *trial) choose(ids []string) (group, bool) {
	if len(t.left) == 0 {
		return group{}, false
	}
	best := slices.MinFunc(t.left, func(a, b group) int {
		return cmp.Or(-cmp.Compare(len(a.covers(ids)), len(b.covers(ids))), cmp.Compare(a.states, b.states))
	})
	if len(best.covers(ids)) == 0 {
		return group{}, false
	}
	i := slices.IndexFunc(t.left, func(g group) bool { return g.scenarios[0] == best.scenarios[0] })
	t.left = slices.Delete(t.left, i, i+1)
	return best, true
}

// chosen is a group to be run with a fault.
type chosen struct {
	trial int
	group group
}

// next are the groups of the next round: one for each fault that nothing has caught yet, and one more wherever a core requirement that a fault should
// break has caught none. Nothing is next when every fault is caught and every core requirement has caught one, or all has been tried.
func next(trials []*trial, requirements []suites.Requirement) []chosen {
	var round []chosen
	catching := map[string]bool{}
	for i, t := range trials {
		row := t.row()
		for _, id := range row.Caught {
			catching[id] = true
		}
		if len(row.Caught) > 0 {
			continue
		}
		if g, ok := t.choose(t.fault.Breaks); ok {
			round = append(round, chosen{i, g})
		}
	}
	if len(round) > 0 {
		return round // what they catch is to be known first
	}
	for _, r := range requirements {
		if r.Level != suites.Core || catching[r.ID] {
			continue
		}
		if c, ok := chooseFor(trials, r.ID); ok {
			round = append(round, c)
		}
	}
	return round
}

// chooseFor finds the fault that breaks a requirement, and little else, with a group that covers it.
func chooseFor(trials []*trial, id string) (chosen, bool) {
	var order []int
	for i, t := range trials {
		if slices.Contains(t.fault.Breaks, id) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(trials[a].fault.Breaks), len(trials[b].fault.Breaks)) })
	for _, i := range order {
		if g, ok := trials[i].choose([]string{id}); ok {
			return chosen{i, g}, true
		}
	}
	return chosen{}, false
}
