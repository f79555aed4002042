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

// group has scenarios that share a cluster.
type group struct {
	scenarios []*scenarios.Scenario
	// states is the number of states that the cluster goes through.
	states int
	// tried is how often some scenarios were taken from the group.
	tried int
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

// covers are those of the ids that the group's scenarios cover.
func (g group) covers(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !slices.ContainsFunc(g.scenarios, func(s *scenarios.Scenario) bool {
			return slices.Contains(s.Spec.Covers,
				id)
		})
	})
}

// of is the group's scenario with that title; nil if it has none.
func (g group) of(title string) *scenarios.Scenario {
	for _, s := range g.scenarios {
		if s.Title() == title {
			return s
		}
	}
	return nil
}

// state is the cluster's initial state without its systems, as text that can be compared.
func (g group) state() string { return bare(g.scenarios[0].Path()[0]) }

// byState sorts groups by the initial state of their clusters: clusters are reused, and each other state costs a new
// one.
func byState(round []chosen) {
	slices.SortStableFunc(round, func(a, b chosen) int { return cmp.Compare(a.group.state(), b.group.state()) })
}

// trial is a fault with the scenarios that ran with it, and those that still can.
type trial struct {
	fault simulators.Fault
	// left are groups that have not run yet, of scenarios without the fault.
	left []group
	ran  []*reports.Scenario
	// took is how long scenarios took without faults, as far as known.
	took timings
	// repeated are the scenarios that could not be judged and ran a second time.
	repeated map[string]bool
}

func (t *trial) row() Row { return newRow(t.fault, t.ran) }

// few is how many scenarios of a group are tried at first: each costs a namespace, and another round costs changes of
// the simulator.
const few = 3

// choose takes scenarios from one of the remaining groups: from the one that was tried least often, then the one that
// covers most of the ids, then the one with the shortest path. If a group was tried before, choose takes all its
// scenarios. It returns false if no group covers any of the ids.
func (t *trial) choose(ids []string) (group, bool) {
	best := -1
	for i, g := range t.left {
		if len(g.covers(ids)) == 0 {
			continue
		}
		if best < 0 || compare(g, t.left[best], ids) < 0 {
			best = i
		}
	}
	if best < 0 {
		return group{}, false
	}
	from := &t.left[best]
	picked := from.pick(ids, t.took)
	if from.tried > 0 {
		picked = from.scenarios
	}
	rest := slices.DeleteFunc(slices.Clone(from.scenarios),
		func(s *scenarios.Scenario) bool { return slices.Contains(picked, s) })
	chosen := group{scenarios: picked, states: from.states}
	from.scenarios, from.tried = rest, from.tried+1
	return chosen, true
}

func compare(a, b group, ids []string) int {
	return cmp.Or(cmp.Compare(a.tried, b.tried), -cmp.Compare(len(a.covers(ids)), len(b.covers(ids))),
		cmp.Compare(a.states, b.states))
}

// pick takes a few scenarios that cover the first of the ids, for each the scenario that takes the shortest time.
func (g group) pick(ids []string, took timings) []*scenarios.Scenario {
	var picked []*scenarios.Scenario
	for _, id := range ids {
		covering := slices.DeleteFunc(slices.Clone(g.scenarios),
			func(s *scenarios.Scenario) bool { return !slices.Contains(s.Spec.Covers, id) })
		if len(covering) == 0 || slices.ContainsFunc(picked,
			func(s *scenarios.Scenario) bool { return slices.Contains(covering, s) }) {
			continue
		}
		picked = append(picked, slices.MinFunc(covering, func(a, b *scenarios.Scenario) int {
			return cmp.Compare(took.of(a),
				took.of(b))
		}))
		if len(picked) == few {
			break
		}
	}
	return picked
}

// chosen is a group that will run with a fault.
type chosen struct {
	trial int
	group group
}

// next are the groups of the next round: one for each fault that is not caught yet, and one more for each core
// requirement that should catch a fault but has not. There is no next round if every fault is caught and every core
// requirement has caught one, or all have been tried.
func next(trials []*trial, requirements []suites.Requirement, rare func([]string) []string) []chosen {
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
		if g, ok := t.choose(rare(t.fault.Breaks)); ok {
			round = append(round, chosen{i, g})
		}
	}
	if len(round) > 0 {
		return round // their result is needed first
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

// rarity sorts requirements. Those that the fewest faults break come first: they have the fewest chances to catch one.
func rarity(faults []simulators.Fault) func([]string) []string {
	breaking := map[string]int{}
	for _, fault := range faults {
		for _, id := range fault.Breaks {
			breaking[id]++
		}
	}
	return func(ids []string) []string {
		return slices.SortedStableFunc(slices.Values(ids), func(a, b string) int {
			return cmp.Compare(breaking[a], breaking[b])
		})
	}
}

// chooseFor finds a fault that breaks a requirement, and few others, with a group that covers it.
func chooseFor(trials []*trial, id string) (chosen, bool) {
	var order []int
	for i, t := range trials {
		if slices.Contains(t.fault.Breaks, id) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(trials[a].fault.Breaks),
			len(trials[b].fault.Breaks))
	})
	for _, i := range order {
		if g, ok := trials[i].choose([]string{id}); ok {
			return chosen{i, g}, true
		}
	}
	return chosen{}, false
}
