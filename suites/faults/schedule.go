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

// group is a set of scenarios that share a cluster.
type group struct {
	scenarios []*scenarios.Scenario
	// states is the number of states that the cluster goes through.
	states int
	// tried is how often scenarios were taken from the group.
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

// covers returns the ids that the group's scenarios cover.
func (g group) covers(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !slices.ContainsFunc(g.scenarios, func(s *scenarios.Scenario) bool {
			return slices.Contains(s.Spec.Covers,
				id)
		})
	})
}

// of returns the group's scenario with that title; nil if there is none.
func (g group) of(title string) *scenarios.Scenario {
	for _, s := range g.scenarios {
		if s.Title() == title {
			return s
		}
	}
	return nil
}

// byState sorts groups by the initial state of their clusters. Groups with the same state reuse a cluster; every other
// state needs a new one.
func byState(round []chosen) {
	slices.SortStableFunc(round, func(a, b chosen) int { return byFirstState(a.group.scenarios[0], b.group.scenarios[0]) })
}

// byFirstState compares the initial states of the clusters of two scenarios, without their systems.
func byFirstState(a, b *scenarios.Scenario) int {
	return cmp.Compare(bare(a.Path()[0]), bare(b.Path()[0]))
}

// trial is a fault, the scenarios that ran with it, and the scenarios that can still run with it.
type trial struct {
	fault simulators.Fault
	// left are the groups of scenarios that have not run with the fault yet. These scenarios do not contain the fault.
	left []group
	ran  []*reports.Scenario
	// took is how long scenarios took without faults, if known.
	took timings
	// repeated are the scenarios that could not be judged the first time. Each of them runs a second time.
	repeated map[string]bool
	// done are the scenarios that ran.
	done []group
	// repetitions are the results of the second and later runs, by the scenarios' own names.
	repetitions []map[string]*reports.Scenario
}

func (t *trial) row() Row {
	row := newRow(t.fault, t.ran)
	if len(t.repetitions) > 0 {
		t.compare(&row)
	}
	return row
}

// begun notes that a group of scenarios runs.
func (t *trial) begun(g group) {
	g.scenarios = slices.DeleteFunc(slices.Clone(g.scenarios), func(s *scenarios.Scenario) bool {
		return slices.ContainsFunc(t.done, func(known group) bool { return slices.Contains(known.scenarios, s) })
	})
	if len(g.scenarios) > 0 {
		t.done = append(t.done, g)
	}
}

// few is the maximum number of scenarios that are tried first from a group. Each scenario needs a namespace, but each
// further round needs changes of the simulator.
const few = 3

// choose takes scenarios from one of the remaining groups. It prefers the group that was tried least often, then the
// one that covers most of the ids, then the one with the shortest path. The first time, it picks a few scenarios of the
// group; the second time, it takes all that are left. It returns false if no group covers any of the ids.
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

// pick selects at most few scenarios. For each id, it selects the fastest scenario that covers the id, unless a
// selected one covers it already. A scenario of unknown duration counts as fastest.
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

// chosen is a group that will run with the fault of a trial.
type chosen struct {
	trial int
	group group
}

// next returns the groups of the next round: one for each fault that is not caught yet. If there is none, it returns
// one for each core requirement that has not caught a fault yet. It returns no group if every fault is caught and every
// core requirement has caught one, or if all scenarios that could help were tried.
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
		return round // the core requirements depend on their results
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

// rarity returns a function that sorts requirements by the number of faults that break them, smallest first. A
// requirement that few faults break has few chances to catch one.
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

// chooseFor finds a fault that breaks a requirement, and a group that covers the requirement. It prefers faults that
// break few requirements.
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
