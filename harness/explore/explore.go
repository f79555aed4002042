// Package explore finds what an upgrade, a rollback or a feature gate breaks, and needs no list of what may break. It
// makes objects of all kinds with all fields that the API server accepts, takes them along a path of states, and asks
// of each object at each state what a survey asks. What breaks is reduced, written as a scenario, and shown again from
// nothing.
package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// Options of an exploration.
type Options struct {
	Provider clusters.Provider
	// Path of resolved states.
	Path []clusters.State
	// Gates whose effects are found out one by one; the path has all of them on and off. Default: none.
	Gates []Gate
	// Base is the state in which no gate is set, where gates are explored.
	Base clusters.State
	// Kinds that are explored: Ingress, Ingress.networking.k8s.io. Default: all.
	Kinds []string
	// Shard is the part of the kinds that is explored. Default: all of them.
	Shard planning.Shard
	// For is how long objects are looked for and crossed; what was begun is ended. Default: as long as it takes.
	For time.Duration
	// Seed of what is chosen where not all can cross.
	Seed uint64
	// Objects is how many cross at most.
	Objects int
	// Settle is for how long the untouched cluster is watched at each state.
	Settle time.Duration
	// Workers is how many requests are under way at once.
	Workers int
	// Prove runs the scenario of each finding in a cluster of its own.
	Prove bool
	// Customs are CustomResourceDefinitions whose kinds are explored with those of Kubernetes.
	Customs []*manifests.Object
	// Systems has the simulators and the modules that the systems of the path are made of.
	Systems systems.Options
	// Known findings. May be nil.
	Known *explorations.Known
	// Progress hears what is going on.
	Progress clusters.Progress
}

// deleteTimeout is how long a cluster may take to be removed.
const deleteTimeout = 2 * time.Minute

// Run explores. What came of it is in the report, also where the error, which is of the exploration itself, is not nil.
func Run(ctx context.Context, o Options) (*explorations.Report, error) {
	e := &exploration{Options: o, report: Planned(o)}
	e.report.Started = time.Now()
	e.limit = ctx
	if o.For > 0 {
		var cancel context.CancelFunc
		e.limit, cancel = context.WithTimeoutCause(ctx, o.For, errLate)
		defer cancel()
	}
	err := e.run(ctx)
	e.conclude()
	o.Known.Mark(e.report)
	e.report.Interrupted = ctx.Err() != nil
	e.report.Finished = time.Now()
	if e.report.Interrupted {
		err = nil
	}
	if err != nil {
		e.report.Unjudged = append(e.report.Unjudged, fmt.Sprintf("the exploration did not come to its end: %v", err))
	}
	return e.report, err
}

// errLate says that the time of an exploration is up.
var errLate = errors.New("the time is up")

// exploration is one run.
type exploration struct {
	Options
	report *explorations.Report
	// limit ends when the time is up.
	limit context.Context
	// corpus are the objects that were tried, in the order in which they were made.
	corpus []*entry
	// kinds are the numbers of fields, by kind.
	kinds map[string]*explorations.Kind
	// groups are findings that may have one cause.
	groups []*group
	// clusters counts those that were made, for their names.
	clusters int
	// customs are the definitions of custom kinds, one of our own with them.
	customs customKinds
	dealing dealing
}

// entry is an object of the corpus with what the states make of it.
type entry struct {
	*growth.Specimen
	// verdicts by the name of the state.
	verdicts map[string]verdict
	// gates that it depends on, where gates are explored.
	gates []string
	// written says that each state writes the object anew as it reads it, before the path goes on.
	written bool
}

// verdict is what a state makes of an object.
type verdict struct {
	accepted bool
	// lost are the fields that the API server drops though it accepts the object.
	lost string
}

func (e *exploration) run(ctx context.Context) error {
	for _, state := range e.Path {
		if err := e.Provider.Prepare(ctx, state); err != nil {
			return fmt.Errorf("prepare %s: %w", state, err)
		}
	}
	own, err := sample()
	if err != nil {
		return err
	}
	e.customs = append(e.customs, own)
	e.customs = append(e.customs, e.Customs...)
	if err := e.grow(ctx); err != nil {
		return err
	}
	if e.dealing.idle() {
		e.report.Idle = true
		return nil
	}
	if err := e.attribute(ctx); err != nil {
		return err
	}
	chosen := e.choose()
	seen, err := e.cross(ctx, e.Path, chosen)
	e.take(seen)
	if err != nil {
		return err
	}
	if err := e.reduce(ctx); err != nil {
		return err
	}
	return e.prove(ctx)
}

// late says whether the time is up, and notes what is left out.
func (e *exploration) late(what string) bool {
	if e.limit.Err() == nil {
		return false
	}
	e.report.Late = true
	e.report.Untried = append(e.report.Untried, what)
	return true
}

// create makes a cluster in a state. The function removes it.
func (e *exploration) create(ctx context.Context, state clusters.State) (*systems.Host, func(), error) {
	e.clusters++
	name := fmt.Sprintf("explore-%s-%d", strings.ToLower(rand.Text()[:6]), e.clusters)
	cluster, err := e.Provider.Create(ctx, name, state)
	if err != nil {
		return nil, nil, fmt.Errorf("create a cluster in state %s: %w", state, err)
	}
	remove := func(delete func(context.Context) error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer cancel()
		if err := delete(ctx); err != nil {
			e.Progress("the cluster could not be removed: %v", err)
		}
	}
	with := e.Systems
	with.Progress = e.Progress
	host, err := systems.NewHost(ctx, cluster, state.Systems, with)
	if err != nil {
		remove(cluster.Delete)
		return nil, nil, err
	}
	return host, func() { remove(host.Delete) }, nil
}

// nameOf a state, without what has to do with the exploration's own clusters.
func nameOf(state clusters.State) string {
	state.Nodes = nil
	on, off := 0, 0
	for _, component := range clusters.ControlPlane() {
		for gate, value := range state.Gates(component) {
			if component != clusters.APIServer && state.FeatureGates[gate] == value {
				continue
			}
			if value {
				on++
			} else {
				off++
			}
		}
	}
	if on+off <= shownGates {
		return state.String()
	}
	return fmt.Sprintf("%s with %d gates on and %d off", state.Version, on, off)
}

// shownGates is how many gates the name of a state has.
const shownGates = 8

// wanted says whether a kind is explored.
func (e Options) wanted(kind *fields.Kind) bool {
	return len(e.Kinds) == 0 || slices.ContainsFunc(e.Kinds, func(name string) bool {
		return manifests.Means(name, kind.GroupKind())
	})
}
