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

// group is scenarios that share a cluster.
type group struct {
	scenarios []*scenarios.Scenario
	// states that the cluster goes through.
	states int
	// tried is how often some of the group's scenarios were taken out of it.
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

// covers are those of some requirements that the group's scenarios cover.
func (g group) covers(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !slices.ContainsFunc(g.scenarios, func(s *scenarios.Scenario) bool {
			return slices.Contains(s.Spec.Covers,
				id)
		})
	})
}

// of is the group's scenario of that title; nil when it has none.
func (g group) of(title string) *scenarios.Scenario {
	for _, s := range g.scenarios {
		if s.Title() == title {
			return s
		}
	}
	return nil
}

// state that the group's cluster begins in, as text that can be compared, but for its systems.
func (g group) state() string { return bare(g.scenarios[0].Path()[0]) }

// byState puts groups whose clusters begin in the same state one after the other: clusters are used again, and each
// other state costs a new one.
func byState(round []chosen) {
	slices.SortStableFunc(round, func(a, b chosen) int { return cmp.Compare(a.group.state(), b.group.state()) })
}

// trial is a fault with what was run of it, and what could be.
type trial struct {
	fault simulators.Fault
	// left are groups that were not run yet, of scenarios without the fault.
	left []group
	ran  []*reports.Scenario
	// took is how long scenarios took without faults, where that is known.
	took timings
	// repeated are the scenarios that were not judged once and run a second time.
	repeated map[string]bool
}

func (t *trial) row() Row { return newRow(t.fault, t.ran) }

// few is how many scenarios of a group are tried at first: each costs a namespace, and a further round costs changes of
// the simulator.
const few = 3

// choose takes scenarios of one group out of those that are left: of the group that was tried least, of several such
// the one that covers most of some requirements, of several such the one with the shortest path. The first requirements
// count most. A group that was tried already is tried to its end. It is false when none covers any.
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

// pick takes a few scenarios that cover the first of some requirements, of several such the one that takes the shortest
// time.
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

// chosen is a group to be run with a fault.
type chosen struct {
	trial int
	group group
}

// next are the groups of the next round: one for each fault that nothing has caught yet, and one more wherever a core
// requirement that a fault should break has caught none. Nothing is next when every fault is caught and every core
// requirement has caught one, or all has been tried.
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

// rarity sorts requirements, those first that the fewest of some faults break: they have the fewest chances to catch
// one.
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

// chooseFor finds the fault that breaks a requirement, and little else, with a group that covers it.
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
