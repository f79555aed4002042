// Package systems installs, runs, changes and removes the software under test in a cluster.
package systems

import (
	"context"
	"errors"
	"fmt"
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
	client.Keep = o.Keep && o.Borrowed
	s := &Set{
		Options: o, api: client, webhooks: hooks, deleter: client,
		places:  &places.Places{Cluster: cluster, Now: o.Now, Keep: o.Keep, Borrowed: o.Borrowed},
		cluster: cluster, spawner: processes.NewSpawner(), died: make(chan error, 8),
	}
	s.installer = &installer{installing.Installer{
		Objects: client, Webhooks: hooks, Borrowed: o.Borrowed,
		Beside: s.installationsBeside,
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
