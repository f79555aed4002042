package harness

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/proof"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
)

// gateReadings are the feature gates of a track's cluster, as its components' metrics show them.
type gateReadings struct {
	run *trackRun
	// reached are the gates of each reached state, in the path's order. The run's lock guards them.
	reached []reports.StateGates
}

// gatesTimeout is how long a component may take to report its gates.
const gatesTimeout = 5 * time.Second

// namedGates are the feature gates that the states set, in any component.
func namedGates(path []clusters.State) []string {
	named := map[string]bool{}
	for _, state := range path {
		for _, component := range append(clusters.SortedKeys(state.Components), "") {
			for gate := range state.Gates(component) {
				if gate = strings.TrimPrefix(gate, "kube:"); gate != "AllAlpha" && gate != "AllBeta" {
					named[gate] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// read asks the components of the cluster, which is in the n-th state of the path, for the gates that the path sets
// and for the gates that these need. A gate that cannot be read is reported with the reason. It does not end the run,
// since the cluster has already proven its gates as far as it can.
func (g *gateReadings) read(ctx context.Context, n int) {
	state := g.run.track.Path[n]
	found := reports.StateGates{State: state.String(), Version: state.Version}
	if named := namedGates(g.run.track.Path); len(named) > 0 {
		found.Gates = g.effective(ctx, state, named)
	}
	g.run.mu.Lock()
	defer g.run.mu.Unlock()
	g.reached = append(g.reached, found)
}

// effective returns the values of the gates in a state, and of the gates that they need.
func (g *gateReadings) effective(ctx context.Context, state clusters.State, named []string) []reports.EffectiveGate {
	neededBy := map[string]string{}
	if teller, ok := g.run.provider.(clusters.GateTeller); ok {
		for _, gate := range named {
			for _, need := range teller.GateDependencies(ctx, state, gate) {
				if !slices.Contains(named, need) && neededBy[need] == "" {
					neededBy[need] = gate
				}
			}
		}
	}
	components := g.components(state)
	said := make([]func(gate string) reports.GateReading, len(components))
	var asking sync.WaitGroup
	for i, component := range components {
		asking.Go(func() { said[i] = g.ask(ctx, component, state) })
	}
	asking.Wait()
	var all []reports.EffectiveGate
	for _, gate := range slices.Concat(named, slices.Sorted(maps.Keys(neededBy))) {
		e := reports.EffectiveGate{Gate: gate, NeededBy: neededBy[gate]}
		for _, read := range said {
			e.Readings = append(e.Readings, read(gate))
		}
		all = append(all, e)
	}
	return all
}

// components are the components of the cluster that have feature gates.
func (g *gateReadings) components(state clusters.State) []clusters.Component {
	if gated, ok := g.run.cluster.(clusters.GatedCluster); ok {
		return gated.GatedComponents()
	}
	return state.ControlPlane()
}

// ask reads a component's metrics. It returns a function for the reading of a gate.
func (g *gateReadings) ask(ctx context.Context, component clusters.Component,
	state clusters.State,
) func(gate string) reports.GateReading {
	gates, err := g.of(ctx, component)
	return func(gate string) reports.GateReading {
		reading := reports.GateReading{Component: string(component)}
		value, known := gates[gate]
		switch {
		case err != nil:
			reading.NotProven = err.Error()
		case !known:
			reading.NotProven = "Kubernetes " + state.VersionOf(component) + " has no such gate there"
		default:
			reading.Metric, reading.Enabled, reading.Stage = proof.GateMetric, value.Enabled, value.Stage
		}
		return reading
	}
}

func (g *gateReadings) of(ctx context.Context, component clusters.Component) (map[string]proof.Gate, error) {
	if g.run.transitions.wrecked.Load() != nil {
		return nil, errors.New("the cluster is broken, as the transition expects")
	}
	source, ok := g.run.cluster.(clusters.MetricsSource)
	if !ok {
		return nil, errors.New("clusters of this provider show no metrics")
	}
	ctx, cancel := context.WithTimeout(ctx, gatesTimeout)
	defer cancel()
	metrics, err := source.Metrics(ctx, component)
	if err != nil {
		return nil, err
	}
	return proof.Gates(metrics)
}

// soFar returns the gates that a scenario's own states set, and the gates that these need, in the states that the
// scenario has reached: up to the at-th state of the path.
func (g *gateReadings) soFar(entry *planning.Entry, at int) []reports.StateGates {
	named := namedGates(entry.Path(g.run.track))
	if len(named) == 0 {
		return nil
	}
	g.run.mu.Lock()
	defer g.run.mu.Unlock()
	var all []reports.StateGates
	for _, state := range g.reached[:min(at+1, len(g.reached))] {
		state.Gates = slices.DeleteFunc(slices.Clone(state.Gates), func(e reports.EffectiveGate) bool {
			return !slices.Contains(named, e.Gate) && !slices.Contains(named, e.NeededBy)
		})
		all = append(all, state)
	}
	return all
}
