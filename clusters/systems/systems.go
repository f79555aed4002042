// Package systems installs, runs, changes and removes the software under test in a cluster.
package systems

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/installing"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/outages"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// Options of a Set.
type Options struct {
	// Simulators that are known.
	Simulators Simulators
	// Modules builds systems that are programs of Go modules. Optional: without it they are not supported.
	Modules Modules
	// Keep makes the processes outlive this one.
	Keep bool
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Borrowed: the cluster is the user's own, so objects of another installation are not overwritten.
	Borrowed bool
	// Copied is the inventory of the cluster that this one is a copy of.
	Copied Inventory
}

// Set is the systems of one cluster.
type Set struct {
	Options
	roster

	cluster   clusters.Cluster
	api       *objects.Client
	webhooks  *webhooks.Client
	deleter   deleter
	installer *installer
	calls     calls
	places    *places.Places
	spawner   *processes.Spawner
	died      chan error
	// life ends with quit, when the set is closed.
	life context.Context
	quit context.CancelFunc
	// converging serialises changes of systems.
	converging sync.Mutex
	// seen are the outages of the API server.
	seen outages.Seen

	// held: the API server may be down, so that the exit of a process is expected.
	held atomic.Bool
}

// New returns the set of systems of a cluster, initially empty.
func New(cluster clusters.Cluster, o Options) (*Set, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	client, err1 := objects.New(cluster.RESTConfig())
	hooks, err2 := webhooks.New(cluster.RESTConfig())
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", cluster.Name(), err)
	}
	s := &Set{
		Options: o, api: client, webhooks: hooks, deleter: client,
		places:  &places.Places{Cluster: cluster, Now: o.Now, Keep: o.Keep, Borrowed: o.Borrowed},
		cluster: cluster, spawner: processes.NewSpawner(), died: make(chan error, 8),
	}
	s.installer = &installer{installing.Installer{
		Objects: client, Webhooks: hooks, Borrowed: o.Borrowed,
		Together: func(one, other string) bool { return replicas(s.system(one), s.system(other)) },
	}}
	s.installer.Controllers, _ = cluster.(clusters.Rediscoverer)
	s.calls = calls{webhooks: hooks, installer: s.installer, progress: o.Progress, now: o.Now}
	s.held.Store(true)
	s.life, s.quit = context.WithCancel(context.Background())
	return s, nil
}

// Died yields an error for every process of a system that exited unexpectedly, with its last log lines.
func (s *Set) Died() <-chan error { return s.died }

// Hold announces that the cluster is about to change. Until the returned function is called, new connections of
// processes to the API server wait until it is ready. Until the next Converge, Died does not report the exit of a
// process. Converge restarts it, as a pod would be. Only a process that is ready now must be ready after Converge.
func (s *Set) Hold(ctx context.Context) (release func()) {
	s.converging.Lock()
	s.hold(ctx)
	s.converging.Unlock()
	s.places.HoldConnections(true)
	return func() { s.places.HoldConnections(false) }
}

// hold makes the exit of a process expected. Before the cluster changes, it notes which processes are ready.
func (s *Set) hold(ctx context.Context) {
	if !s.held.Swap(true) {
		s.noteReadiness(ctx)
	}
}

// Converge makes the cluster have exactly these systems, in this order. It returns when each serves: its CRDs are
// established and can be discovered, its process is ready, and its webhooks have been seen to answer the API server. A
// changed system is restarted.
func (s *Set) Converge(ctx context.Context, wanted []clusters.System) error {
	s.converging.Lock()
	defer s.converging.Unlock()
	if err := sameCalls(wanted); err != nil {
		return err
	}
	s.hold(ctx)
	outage := s.seen.Happened(s.cluster)
	for _, sys := range s.all() {
		sys.pardon.Transition(outage, s.Now())
	}
	err := s.installer.Announced(ctx, func(allThere func()) error { return s.converge(ctx, wanted, allThere) })
	if outage {
		prolong := func() {
			for _, sys := range s.all() {
				sys.pardon.Prolong(s.Now())
			}
		}
		prolong()       // from here on an exit is noticed
		defer prolong() // ended may take long
	}
	s.held.Store(false)
	if err != nil {
		return err
	}
	return s.ended(ctx)
}

func (s *Set) converge(ctx context.Context, wanted []clusters.System, allThere func()) error {
	for _, sys := range slices.Backward(s.all()) {
		name, pods := sys.definition.Name, sys.definition.Kind() == "manifests"
		if !slices.ContainsFunc(wanted,
			func(w clusters.System) bool { return w.Name == name && (w.Kind() == "manifests") == pods }) {
			if err := s.remove(ctx, sys); err != nil {
				return fmt.Errorf("remove system %s: %w", name, err)
			}
		}
	}
	for i, definition := range wanted {
		installed := func() {}
		if i == len(wanted)-1 {
			installed = allThere
		}
		if err := s.one(ctx, definition, installed); err != nil {
			return fmt.Errorf("system %s: %w", definition, err)
		}
	}
	return nil
}

// ended returns an error if a process exited unexpectedly while the systems were held. One that lost its lease is
// restarted.
func (s *Set) ended(ctx context.Context) error {
	for _, sys := range s.all() {
		if !endedByItself(sys.process) {
			continue
		}
		err := sys.process.Failure()
		if sys.lostLease() {
			timed, cancel := context.WithTimeout(ctx, installTimeout)
			err = s.resume(timed, sys)
			cancel()
		}
		if err != nil {
			return fmt.Errorf("system %s: %w", sys.definition.Name, err)
		}
	}
	return nil
}

// one installs or changes one system. It calls installed once the system's kinds exist, if that is before it serves.
func (s *Set) one(ctx context.Context, definition clusters.System, installed func()) error {
	built, err := Build(ctx, definition, s.Modules) // before the timeout starts: this may take minutes
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	sys := s.system(definition.Name)
	switch {
	case sys == nil:
		s.Progress("installing system %s", definition)
		sys = s.add(definition, s.Copied[definition.Name])
	case !sys.installed || !reflect.DeepEqual(asCalled(sys.definition), asCalled(definition)):
		s.Progress("changing system %s to %s", sys.definition, definition)
	case definition.Kind() == "manifests":
		return s.installer.deploy(ctx, sys, false)
	default:
		sys.definition = definition
		return s.keepUp(ctx, sys)
	}
	sys.definition, sys.installed = definition, false
	sys.built = built
	if definition.Kind() == "manifests" {
		err = s.installer.deploy(ctx, sys, true)
	} else {
		err = s.launch(ctx, sys, installed)
	}
	sys.installed = err == nil
	return err
}

// Reinstall makes the next Converge install each system that is a program again, even if its definition is unchanged.
func (s *Set) Reinstall() {
	for _, sys := range s.all() {
		if sys.definition.Launched() != nil {
			sys.installed = false
			sys.installation.ApplyAgain()
		}
	}
}

// asCalled is a system without its webhookCalls, which change while its process keeps running.
func asCalled(definition clusters.System) clusters.System {
	definition.WebhookCalls = nil
	return definition
}

// installTimeout is how long a system may take until it serves: far more than it needs on a busy machine.
const installTimeout = 4 * time.Minute

// Close ends all systems. If the cluster stays, they are removed with everything that was created for them.
func (s *Set) Close(ctx context.Context, stays bool) error {
	s.quit()
	s.converging.Lock()
	defer s.converging.Unlock()
	s.held.Store(true)
	var errs []error
	for i, sys := range slices.Backward(s.all()) {
		var err error
		if stays {
			removal, cancel := waiting.Share(ctx, i+1) // one that cannot be removed leaves time for the others
			err = s.remove(removal, sys)
			cancel()
		}
		if !stays || err != nil {
			err = errors.Join(err, s.end(ctx, sys))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("end system %s: %w", sys.definition.Name, err))
		}
	}
	s.spawner.Close()
	return errors.Join(append(errs, s.places.Close())...)
}
