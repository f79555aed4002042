// Package faults shows that a suite can fail, and that it passes what is right: it runs the suite against each fault of
// its simulator, and says which requirement caught which; and against each liberty, under which it must be green.
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

// Options say which faults of which suite are tried, and on what.
type Options struct {
	// Suite whose simulator has the faults.
	Suite suites.Suite
	// Only these faults or liberties, by name. Default: every one.
	Only []string
	// All scenarios of the suite run with each fault or liberty, and not only as many of those that cover what it breaks
	// as it takes to see it caught.
	All bool
	// Shard is the part of the faults and of the liberties that is tried. Default: all of them.
	Shard planning.Shard
	// Before is a run of the suite without faults that was made just now; it is made where this one is nil, or lacks a
	// scenario.
	Before *reports.Run
	// Provider of the clusters, which are used again from fault to fault.
	Provider *local.Provider
	// Simulators, of which the suite's is one.
	Simulators systems.Simulators
	// Clusters is how many there are at once. Default: as many as there is room for.
	Clusters int
	// Room is what the machine has for clusters. Default: for 2.
	Room planning.Room
	// Progress hears what is going on. Optional.
	Progress clusters.Progress
}

// Run runs the suite without faults, with each of them, and without them again. The matrix may be anything but green
// (see Matrix.Err); the error is of the run itself.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	began := time.Now()
	o.fill()
	wanted, err := choose(o.Suite, o.Only)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Suite: o.Suite.Name, Core: coreOf(o.Suite.Requirements), Partial: len(o.Only) > 0 || o.Shard.Of > 1}
	shared := &pool{Provider: o.Provider, simulators: o.Simulators}
	r := runner{Options: o, pool: shared, rare: rarity(wanted)}
	if mine := planning.Deal(o.Shard, wanted, workOf); len(mine) > 0 {
		err = r.run(ctx, m, mine)
	}
	m.Took = time.Since(began)
	if err = errors.Join(err, shared.evict(context.WithoutCancel(ctx))); err != nil {
		return nil, fmt.Errorf("try the faults of suite %s: %w", o.Suite.Name, err)
	}
	return m, nil
}

// fill puts in what the options leave open.
func (o *Options) fill() {
	if o.Clusters < 1 && o.Room == (planning.Room{}) {
		o.Clusters = 2
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
}

func choose(suite suites.Suite, only []string) ([]simulators.Fault, error) {
	if len(suite.Faults) == 0 {
		return nil, fmt.Errorf("suite %s has no simulator, and so no faults", suite.Name)
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

// workOf a fault: one of the whole cluster has its scenarios run by themselves, all others share a round.
func workOf(fault simulators.Fault) int {
	if fault.ClusterWide {
		return 3
	}
	return 1
}
