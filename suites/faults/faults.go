// Package faults tests suites. It runs a suite with each fault of its simulator, and reports which requirement caught
// which fault: this shows that the suite can fail. It also runs the suite with each liberty, a difference that the
// specification allows: there the suite must pass.
package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Options are the suite, the faults to try, and the clusters.
type Options struct {
	// Suite is the suite whose simulator has the faults.
	Suite suites.Suite
	// Only are the names of the faults or liberties to try. Default: all.
	Only []string
	// Focused says that Suite has only some of its scenarios, so that not every core requirement can catch a fault.
	Focused bool
	// All: every scenario of the suite runs with each fault or liberty. Default: with a fault, scenarios that cover what
	// it breaks, until it is caught; with a liberty, the scenarios that cover what it is about, except slow ones.
	All bool
	// Shard is the part of the faults and of the liberties to try. Default: all of them.
	Shard planning.Shard
	// Repeat is how often each scenario runs with each fault and liberty. Default: once. Runs whose verdicts differ are a
	// problem of the suite.
	Repeat int
	// With are liberties that the simulator takes beside each fault, for example random delays.
	With []string
	// Before is a recent run of the suite without faults. If it is nil or lacks a scenario of the first round, Run runs
	// these scenarios itself.
	Before *reports.Run
	// Provider creates the clusters. Run reuses a cluster for the next faults.
	Provider *local.Provider
	// Simulators are the known simulators, including the suite's.
	Simulators systems.Simulators
	// Clusters is the maximum number of clusters at once. Default: as many as Room allows.
	Clusters int
	// Room is how much room the machine has for clusters. Default: room for 2.
	Room planning.Room
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
}

// Run runs scenarios of the suite without faults, with each fault, and then without faults again: beside those with
// faults, or after them. The matrix has the result (see Matrix.Err). The error is about the run itself.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	began := time.Now()
	o.fill()
	wanted, err := choose(o.Suite, o.Only)
	if err != nil {
		return nil, err
	}
	shared := &pool{Provider: o.Provider, simulators: o.Simulators}
	r := runner{Options: o, pool: shared, rare: rarity(wanted)}
	if !slices.ContainsFunc(wanted, func(f simulators.Fault) bool { return len(r.scenariosFor(f)) > 0 }) {
		return nil, errors.New("no selected scenario covers a requirement that one of the faults breaks")
	}
	m := &Matrix{
		Suite: o.Suite.Name, Core: coreOf(o.Suite.Requirements), Partial: o.partial() || o.Shard.Of > 1,
		Repeat: o.Repeat, With: o.With,
	}
	if mine := planning.Deal(o.Shard, wanted, workOf); len(mine) > 0 {
		err = r.run(ctx, m, mine)
	}
	m.Took = time.Since(began)
	if err != nil && len(m.Rows) == 0 && !m.notTried() {
		m = nil
	}
	if err = errors.Join(err, shared.evict(context.WithoutCancel(ctx))); err != nil {
		err = fmt.Errorf("try the faults of suite %s: %w", o.Suite.Name, err)
	}
	return m, err
}

// partial reports whether the core requirements that catch no fault say nothing about the suite.
func (o *Options) partial() bool { return len(o.Only) > 0 || o.Focused }

// fill sets the defaults of the options.
func (o *Options) fill() {
	if o.Clusters < 1 && o.Room == (planning.Room{}) {
		o.Clusters = 2
	}
	o.Repeat = max(o.Repeat, 1)
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
}

func choose(suite suites.Suite, only []string) ([]simulators.Fault, error) {
	if len(suite.Faults) == 0 {
		return nil, fmt.Errorf("suite %s has no built-in simulator, and therefore no faults to try", suite.Name)
	}
	for _, name := range only {
		if !slices.ContainsFunc(suite.Faults, func(f simulators.Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("the simulator of suite %s has no fault %q", suite.Name, name)
		}
	}
	return slices.DeleteFunc(slices.Clone(suite.Faults), func(f simulators.Fault) bool {
		return len(only) > 0 && !slices.Contains(only, f.Name)
	}), nil
}

// workOf estimates how much work a fault is, to divide the faults into shards of equal work. The scenarios of a
// cluster-wide fault run separately; those of all other faults share a round.
func workOf(fault simulators.Fault) int {
	if fault.ClusterWide {
		return 3
	}
	return 1
}
