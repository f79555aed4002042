package faults

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// pace is what a run expects of the system under test.
type pace struct {
	// cleanup is the timeout of a scenario's cleanup.
	cleanup time.Duration
	// idleAfter is how long a step waits before its scenario gives its place to others. Default: the harness's own.
	idleAfter time.Duration
}

// usual returns the pace of a correct system: many deletions of namespaces at once take time.
func usual() pace { return pace{cleanup: 2 * time.Minute} }

// faulty returns the pace of a system with a fault, which may prevent the cleanup.
func faulty() pace { return pace{cleanup: 30 * time.Second} }

// slow returns the pace of a system with liberties. It is late on purpose, and what fails meanwhile is tried again. The
// StatefulSet controller retries at most ten failures in a second, so with more scenarios at once none would end. That
// is why a scenario keeps its place while it waits.
func slow() pace { return pace{cleanup: 2 * time.Minute, idleAfter: 24 * time.Hour} }

// atOnce is how many scenarios run at once: with a fault, they mostly wait in vain. Most of them share one cluster,
// and a simulator that restarts every few seconds does not come to an end there if they are many more.
const atOnce = 16

// runner runs scenarios on the pool's clusters.
type runner struct {
	Options
	pool *pool
	// rare sorts requirements by how few faults of all shards break them, so that a shard tries the same scenarios as
	// the whole run.
	rare func([]string) []string
}

func (r runner) run(ctx context.Context, m *Matrix, faults []simulators.Fault) error {
	trials, err := r.trials(ctx, faults)
	if err != nil {
		return err
	}
	if len(trials) == 0 { // of this shard
		m.Rows = r.uncovered(faults)
		return nil
	}
	first := r.next(trials)
	before, err := r.before(ctx, scenariosOf(first))
	if err != nil {
		return err
	}
	found := problemsOf(before.Tracks)
	if m.Before, m.Broken = found.failed, found.broken; m.notTried() {
		return nil // a scenario that always fails catches nothing
	}
	unseen, last, err := r.rounds(ctx, trials, first, timingsOf(before))
	if err != nil {
		return err
	}
	repeated, err := r.repeat(ctx, trials, last, timingsOf(before))
	m.ended(repeated)
	for _, t := range trials {
		m.Rows = append(m.Rows, t.row())
	}
	m.Rows = append(m.Rows, r.uncovered(faults)...)
	if err != nil {
		return m.cut(err)
	}
	if len(unseen) == 0 {
		return nil
	}
	r.Progress("%d scenarios without faults again", len(unseen))
	after, err := r.execute(ctx, marked(unseen, "after"), usual())
	if err != nil {
		return m.cut(err)
	}
	m.ended(problemsOf(after.Tracks))
	return nil
}

// cut notes that the run ended early, after each fault was tried: the rows stay, but nothing says that the suite passes
// without faults at the end.
func (m *Matrix) cut(err error) error {
	m.ended(problems{broken: []string{"the run ended early: " + err.Error()}})
	return err
}

// ended notes why the suite did not pass without faults beside or after the runs with faults.
func (m *Matrix) ended(p problems) {
	m.After, m.Broken = reports.Union(append(m.After, p.failed...)), reports.Union(append(m.Broken, p.broken...))
}

// notTried reports whether no fault was tried, since the suite did not pass before.
func (m *Matrix) notTried() bool { return len(m.Rows) == 0 && len(m.Before)+len(m.Broken) > 0 }

// before is a run without faults of at least the used scenarios.
func (r runner) before(ctx context.Context, used []*scenarios.Scenario) (*reports.Run, error) {
	if r.Before != nil {
		known := timingsOf(r.Before)
		if !slices.ContainsFunc(used, func(s *scenarios.Scenario) bool { return known[s.Title()] == nil }) {
			return r.Before, nil
		}
	}
	r.Progress("%d scenarios without faults", len(used))
	return r.execute(ctx, marked(used, "before"), usual())
}

// scenariosOf are the scenarios of some groups, each once.
func scenariosOf(round []chosen) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, c := range round {
		all = append(all, c.group.scenarios...)
	}
	return unique(all)
}

// trials are the faults, each with the scenarios that may run with it.
func (r runner) trials(ctx context.Context, faults []simulators.Fault) ([]*trial, error) {
	var trials []*trial
	var took timings
	if r.Before != nil {
		took = timingsOf(r.Before)
	}
	faults, err := r.applicable(faults)
	if err != nil {
		return nil, err
	}
	for _, fault := range faults {
		plan, err := harness.NewPlan(ctx, r.pool, r.scenariosFor(fault), harness.PlanOptions{Simulators: r.Simulators})
		if err != nil {
			return nil, err
		}
		trials = append(trials, &trial{fault: fault, left: groupsOf(plan), took: took})
	}
	return trials, nil
}

// scenariosFor are those that run with a fault.
func (r runner) scenariosFor(fault simulators.Fault) []*scenarios.Scenario {
	if r.All {
		return stated(r.Suite.Scenarios)
	}
	return relevant(r.Suite, fault)
}

// applicable returns the faults that scenarios can catch. A whole suite must be able to catch all.
func (r runner) applicable(faults []simulators.Fault) ([]simulators.Fault, error) {
	var all []simulators.Fault
	for _, fault := range faults {
		switch {
		case len(r.scenariosFor(fault)) > 0:
			all = append(all, fault)
		case !r.Focused:
			return nil, fmt.Errorf("no scenario covers a requirement that fault %s breaks: %v", fault.Name, fault.Breaks)
		default:
			r.Progress("fault %s is not tried: no selected scenario covers a requirement that it breaks", fault.Name)
		}
	}
	return all, nil
}

// uncovered are the rows of faults that the user named and that no selected scenario can catch.
func (r runner) uncovered(faults []simulators.Fault) (rows []Row) {
	for _, fault := range faults {
		if slices.Contains(r.Only, fault.Name) && len(r.scenariosFor(fault)) == 0 {
			row := newRow(fault, nil)
			row.Unjudged = []string{"no selected scenario covers a requirement that it breaks"}
			rows = append(rows, row)
		}
	}
	return rows
}

// rounds runs the first round, and then the next until there is none; with All, the first has everything. It returns
// the scenarios that ran but did not pass beside those with faults, and the number of the last round.
func (r runner) rounds(ctx context.Context, trials []*trial, first []chosen, took timings) (
	unseen []*scenarios.Scenario, last int, err error,
) {
	var tried []*scenarios.Scenario
	green := map[string]bool{}
	for n, round := 1, first; ; n, round = n+1, r.next(trials) {
		if len(round) == 0 {
			return slices.DeleteFunc(unique(tried), func(s *scenarios.Scenario) bool { return green[s.Title()] }), n - 1, nil
		}
		for _, c := range round {
			trials[c.trial].begun(c.group)
		}
		r.Progress("round %d: %d groups of scenarios, each with a fault", n, len(round))
		byState(round)
		list := r.scenariosOfRounds(trials, [][]chosen{round}, n, took)
		tried = append(tried, scenariosOf(round)...)
		run, err := r.execute(ctx, list, faulty())
		if err != nil {
			return nil, 0, err
		}
		for _, reason := range redSetup(run.Tracks) {
			r.Progress("%s", reason)
		}
		all := byMark(run)
		control := all[controlMark(n)]
		for _, s := range control {
			if green[original(s.Name)] = s.Status == reports.Passed || s.Status == reports.Known; !green[original(s.Name)] {
				r.Progress("beside the others, but without a fault, %s is %s\n%s", original(s.Name), s.Status, reports.Explain(s))
			}
		}
		for i, t := range trials {
			ran := all[mark(i, n)]
			if !t.fault.ClusterWide {
				ran = t.again(controlled(ran, control), round, i, r.Progress)
			}
			t.ran = append(t.ran, ran...)
		}
	}
}

func (r runner) next(trials []*trial) []chosen {
	if r.All {
		return everything(trials)
	}
	return next(trials, r.Suite.Requirements, r.rare)
}

// everything is every remaining group.
func everything(trials []*trial) []chosen {
	var all []chosen
	for i, t := range trials {
		for _, g := range t.left {
			all = append(all, chosen{i, g})
		}
		t.left = nil
	}
	return all
}

// unique keeps the first of equal scenarios.
func unique(list []*scenarios.Scenario) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	seen := map[*scenarios.Scenario]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}

func (r runner) execute(ctx context.Context, list []*scenarios.Scenario, p pace) (*reports.Run, error) {
	list = suites.WithLiberties(list, r.Suite.System, r.With)
	plan, err := harness.NewPlan(ctx, r.pool, list, harness.PlanOptions{Simulators: r.Simulators})
	if err != nil {
		return nil, err
	}
	clusters, spare := r.Clusters, 0
	if clusters < 1 {
		clusters, spare = plan.AtOnce(r.Room), plan.Spare(r.Room)
	}
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	err = harness.Execute(ctx, plan, harness.Options{
		Recorder: recorder, Clusters: clusters, SpareClusters: spare, CleanupTimeout: p.cleanup, Environment: os.Environ(),
		Parallel: atOnce, IdleAfter: p.idleAfter, Progress: r.Progress,
	})
	return recorder.Run(), err
}
