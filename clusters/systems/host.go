package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Host is a cluster with its systems, which change together.
type Host struct {
	clusters.Cluster
	// set is nil if there are no systems.
	set *Set

	mu     sync.Mutex
	deaths []error
}

// NewHost installs systems, if any, in a cluster.
func NewHost(ctx context.Context, cluster clusters.Cluster, first []clusters.System, o Options) (*Host, error) {
	h := &Host{Cluster: cluster}
	if len(first) == 0 {
		return h, nil
	}
	var err error
	if h.set, err = New(cluster, o); err != nil {
		return nil, err
	}
	if err := h.set.Converge(ctx, first); err != nil {
		return nil, errors.Join(fmt.Errorf("install the systems: %w", err), h.Close(context.WithoutCancel(ctx)))
	}
	return h, nil
}

// Converge brings the cluster, and then its systems, to a state.
func (h *Host) Converge(ctx context.Context, state clusters.State) error {
	if h.set == nil {
		return h.Cluster.Converge(ctx, state)
	}
	release := h.set.Hold(ctx)
	err := h.Cluster.Converge(ctx, state)
	release()
	if err != nil {
		return err
	}
	return h.set.Converge(ctx, state.Systems)
}

// Death is how the first component or system exited unexpectedly; nil if all of them run.
func (h *Host) Death() error {
	if all := h.Deaths(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Deaths are how components and systems exited unexpectedly until now.
func (h *Host) Deaths() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for err := h.exited(); err != nil; err = h.exited() {
		h.deaths = append(h.deaths, err)
	}
	return slices.Clone(h.deaths)
}

// exited returns, once, how a component or a system exited.
func (h *Host) exited() error {
	var died, ended <-chan error
	if dog, ok := h.Cluster.(clusters.ProcessRunner); ok {
		died = dog.Died()
	}
	if h.set != nil {
		ended = h.set.Died()
	}
	select {
	case err := <-died:
		return err
	case err := <-ended:
		return err
	default:
		return nil
	}
}

// Close ends the systems. Call it before the cluster is deleted.
func (h *Host) Close(ctx context.Context) error {
	if h.set == nil {
		return nil
	}
	return h.set.Close(ctx, false)
}

// Delete ends the systems, and deletes the cluster.
func (h *Host) Delete(ctx context.Context) error {
	return errors.Join(h.Close(ctx), h.Cluster.Delete(ctx))
}

// CheckPath finds what is wrong with the systems of a path, before anything starts.
func CheckPath(ctx context.Context, path []clusters.State, o Options) error {
	checks := Checks{}
	for _, state := range path {
		for _, system := range state.Systems {
			err := checks.Check(ctx, system, o.Simulators, o.Modules)
			if err = errors.Join(err, CheckPorts([]clusters.System{system})); err != nil {
				return err
			}
		}
	}
	return nil
}
