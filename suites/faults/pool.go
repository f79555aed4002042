package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// pool is a provider that reuses clusters together with their systems. From fault to fault, only the simulator changes.
type pool struct {
	*local.Provider
	simulators systems.Simulators

	mu sync.Mutex
	// idle are the clusters that are not in use.
	idle []*equipped
}

// equipped is a cluster of the pool.
type equipped struct {
	*local.Cluster
	pool *pool
	set  *systems.Set
}

// Systems returns the systems of the cluster. They stay when the cluster is returned to the pool.
func (e *equipped) Systems() *systems.Set { return e.set }

// Delete returns the cluster to the pool. Deletions of objects in it may continue until the cluster is reused.
func (e *equipped) Delete(context.Context) error {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	e.pool.idle = append(e.pool.idle, e)
	return nil
}

// end deletes the cluster.
func (e *equipped) end(ctx context.Context) error {
	return errors.Join(e.set.Close(ctx, false), e.Cluster.Delete(ctx))
}

// Create returns an idle cluster whose state differs at most in its systems, or a new cluster. To make room for a new
// one, it deletes the idle clusters. A reused cluster first gets the systems of the state without faults, so that the
// effect of a fault does not depend on the previous fault.
func (p *pool) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	for e := p.take(state); e != nil; e = p.take(state) {
		err := e.renew(ctx, state)
		if err == nil {
			return e, nil
		}
		if ended := e.end(context.WithoutCancel(ctx)); ended != nil || ctx.Err() != nil {
			return nil, errors.Join(err, ended)
		}
		p.Progress("cluster %s is not reused: %v", e.Name(), err)
	}
	if err := p.evict(ctx); err != nil {
		return nil, err
	}
	made, err := p.Provider.Create(ctx, name, state)
	if err != nil {
		return nil, err
	}
	c, ok := made.(*local.Cluster)
	if !ok {
		return nil, errors.Join(fmt.Errorf("cluster %s is a %T, which cannot be reused", name, made), made.Delete(ctx))
	}
	set, err := systems.New(c, systems.Options{Simulators: p.simulators, Progress: p.Progress})
	if err != nil {
		return nil, errors.Join(err, c.Delete(ctx))
	}
	return &equipped{c, p, set}, nil
}

// renew prepares a cluster for reuse. The error is the reason why it cannot be reused.
func (e *equipped) renew(ctx context.Context, state clusters.State) error {
	select {
	case err := <-e.Died():
		return err
	default:
	}
	if err := e.set.Converge(ctx, faultless(state.Systems)); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(e.RESTConfig())
	if err == nil {
		err = empty(ctx, client)
	}
	if err != nil {
		return err
	}
	for {
		select {
		case <-e.set.Died(): //nolint:errcheck // it runs again
		default:
			return nil
		}
	}
}

// faultless returns the systems, but without the faults and liberties of their simulators.
func faultless(list []clusters.System) []clusters.System {
	list = slices.Clone(list)
	for i, definition := range list {
		if definition.Simulated != nil {
			simulated := *definition.Simulated
			simulated.Faults, simulated.Liberties = nil, nil
			list[i].Simulated = &simulated
		}
	}
	return list
}

// take removes a cluster with that state from the idle ones and returns it; nil if there is none.
func (p *pool) take(state clusters.State) *equipped {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := bare(state)
	i := slices.IndexFunc(p.idle, func(e *equipped) bool { return bare(e.State()) == wanted })
	if i < 0 {
		return nil
	}
	e := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	return e
}

// bare is a state without its systems, as text that can be compared.
func bare(state clusters.State) string {
	state.Systems = nil
	text, err := json.Marshal(state)
	if err != nil {
		return fmt.Sprintf("%#v", state)
	}
	return string(text)
}

// evict deletes the idle clusters.
func (p *pool) evict(ctx context.Context) error {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var errs []error
	for _, e := range idle {
		errs = append(errs, e.end(ctx))
	}
	return errors.Join(errs...)
}
