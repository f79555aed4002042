// Package explore finds what an upgrade, a rollback or a feature gate breaks, without a list of what may break. It
// generates objects of all kinds with all accepted fields, takes them along a path of states, and surveys them at each
// state. It reduces each failure, writes it as a scenario, and reproduces it in a new cluster.
package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
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
	// Path are the resolved states, in order.
	Path []clusters.State
	// Gates are explored one by one; the path turns all of them on and off. Default: none.
	Gates []Gate
	// Base is the state in which no gate is set. It is used if gates are explored.
	Base clusters.State
	// Kinds to explore, such as Ingress or Ingress.networking.k8s.io. Default: all.
	Kinds []string
	// Shard is the part of the kinds to explore. Default: all of them.
	Shard planning.Shard
	// For is how long objects are generated and cross the path. Steps that have begun are finished. Default: no limit.
	For time.Duration
	// Seed of the choice of objects, if not all of them cross.
	Seed uint64
	// Objects is the maximum number of objects that cross. Default: no limit.
	Objects int
	// Together is the maximum number of them in one cluster; one cluster after the other crosses the path. Default: 2000.
	// The control plane's memory grows with the square, because a Service selects the Pods of many other objects.
	Together int
	// Settle is how long the untouched cluster is watched at each state.
	Settle time.Duration
	// Workers is the number of concurrent requests.
	Workers int
	// Prove runs the scenario of each finding in a new cluster.
	Prove bool
	// Customs are CustomResourceDefinitions. Their kinds are explored together with those of Kubernetes.
	Customs []*manifests.Object
	// Systems has the simulators and modules of the path's systems.
	Systems systems.Options
	// Definitions are the contents of the files that define the path's systems. All shards must have the same ones.
	// Without a shard, they have no effect.
	Definitions map[string]string
	// Known findings. May be nil.
	Known *explorations.Known
	// Progress is called with what is going on.
	Progress clusters.Progress
}

// deleteTimeout is the timeout of deleting a cluster.
const deleteTimeout = 2 * time.Minute

// Run explores, and returns the report. An error means that the exploration itself failed. The report is valid even
// then, and an interrupt is no error.
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
		e.report.Unjudged = append(e.report.Unjudged, fmt.Sprintf("the exploration failed before its end: %v", err))
	}
	return e.report, err
}

// errLate says that the time of an exploration (Options.For) is up.
var errLate = errors.New("the time is up")

// exploration is one run.
type exploration struct {
	Options
	report *explorations.Report
	// limit ends when the time is up.
	limit context.Context
	// corpus are the objects that were tried, in the order of their creation.
	corpus []*entry
	// kinds are the kinds of the report, by name.
	kinds map[string]*explorations.Kind
	// groups are the findings; each joins sightings that probably have one cause.
	groups []*group
	// clusters counts the created clusters, for their names.
	clusters atomic.Int32
	// customs are the definitions of custom kinds, including sample.yaml.
	customs customKinds
	dealing dealing
	// servedNames are the names of wanted kinds that a state serves.
	servedNames map[string]bool
}

// entry is an object of the corpus, with the verdicts of the states on it.
type entry struct {
	*growth.Specimen
	// verdicts by the name of the state.
	verdicts map[string]verdict
	// unjudged are the states that gave no verdict, for example because they answered with 500.
	unjudged []string
	// gates that it depends on, if gates are explored.
	gates []string
	// written says that the object is a twin: each state writes it as it reads it, before the path continues.
	written bool
}

// verdict is whether a state accepts an object, and what it drops.
type verdict struct {
	accepted bool
	// panicked says that the object made the API server panic.
	panicked bool
	// lost are the fields that the API server drops although it accepts the object.
	lost string
	// why is equal for rejections of the same fields for the same reasons; "" if it is not known.
	why string
}

// same reports whether two verdicts are equal, apart from the reason of a rejection.
func (v verdict) same(other verdict) bool {
	v.why, other.why = "", ""
	return v == other
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
	all := &waves{exploration: e, chosen: e.choose()}
	if err := all.run(ctx); err != nil {
		return err
	}
	if err := e.reduce(ctx); err != nil {
		return err
	}
	return e.prove(ctx, e.runAll)
}

// timeUp reports whether the time is up. If it is, the report lists what was not tried.
func (e *exploration) timeUp(what string) bool {
	if e.limit.Err() == nil {
		return false
	}
	e.report.Late = true
	e.report.Untried = append(e.report.Untried, what)
	return true
}

// create creates a cluster in a state. The returned function deletes it.
func (e *exploration) create(ctx context.Context, state clusters.State) (*systems.Host, func(), error) {
	name := fmt.Sprintf("explore-%s-%d", strings.ToLower(rand.Text()[:6]), e.clusters.Add(1))
	cluster, err := e.Provider.Create(ctx, name, state)
	if err != nil {
		return nil, nil, fmt.Errorf("create a cluster in state %s: %w", state, err)
	}
	remove := func(delete func(context.Context) error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer cancel()
		if err := delete(ctx); err != nil {
			e.Progress("delete cluster %s: %v", name, err)
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

// stateOf is the state of the path that has a name.
func (e *exploration) stateOf(name string) clusters.State {
	return e.Path[slices.IndexFunc(e.Path, func(s clusters.State) bool { return nameOf(s) == name })]
}

// nameOf is the name of a state in reports: without nodes, and with at most a few gates.
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

// shownGates is the maximum number of gates in the name of a state.
const shownGates = 8

// wanted reports whether a kind is explored.
func (e Options) wanted(kind *fields.Kind) bool {
	return len(e.Kinds) == 0 || slices.ContainsFunc(e.Kinds, func(name string) bool {
		return manifests.Means(name, kind.GroupKind())
	})
}
