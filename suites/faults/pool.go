package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
)

// pool is a provider whose clusters are used again: what differs from fault to fault is the system alone.
type pool struct {
	*local.Provider

	mu sync.Mutex
	// idle are clusters that nobody uses, made how many there were.
	idle []*local.Cluster
	made int
}

// borrowed is a cluster of the pool. It lasts, so that whoever uses it takes away all that they put into it.
type borrowed struct {
	*local.Cluster
	pool *pool
}

// Lasting says that the cluster goes on after its Delete.
func (b *borrowed) Lasting() bool { return true }

// Delete gives the cluster back.
func (b *borrowed) Delete(context.Context) error {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	b.pool.idle = append(b.pool.idle, b.Cluster)
	return nil
}

// Create returns a cluster that is idle and clean and has that state but for its systems, or else a new one. Idle clusters of other states make
// room for it.
func (p *pool) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	for {
		c := p.take(state)
		if c == nil {
			break
		}
		if err := clean(ctx, c); err == nil {
			return &borrowed{c, p}, nil
		} else if ctx.Err() != nil {
			return nil, errors.Join(err, c.Delete(context.WithoutCancel(ctx)))
		} else {
			p.Progress("cluster %s is not used again: %v", c.Name(), err)
		}
		if err := c.Delete(ctx); err != nil {
			return nil, err
		}
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
		return nil, errors.Join(fmt.Errorf("cluster %s is a %T, which cannot be used again", name, made), made.Delete(ctx))
	}
	p.mu.Lock()
	p.made++
	p.mu.Unlock()
	return &borrowed{c, p}, nil
}

// take removes a cluster in that state from the idle ones; nil when there is none.
func (p *pool) take(state clusters.State) *local.Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := bare(state)
	i := slices.IndexFunc(p.idle, func(c *local.Cluster) bool { return bare(c.State()) == wanted })
	if i < 0 {
		return nil
	}
	c := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	return c
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
	for _, c := range idle {
		errs = append(errs, c.Delete(ctx))
	}
	return errors.Join(errs...)
}

// clean says what makes a cluster unfit to be used again: a component that has died, or what a system has left behind.
func clean(ctx context.Context, c *local.Cluster) error {
	select {
	case err := <-c.Died():
		return err
	default:
	}
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", c.Name(), err)
	}
	for _, resource := range []schema.GroupVersionResource{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	} {
		found, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("look for what is left of a system: %w", err)
		}
		if left := slices.DeleteFunc(found.Items, ownedByTheCluster); len(left) > 0 {
			return fmt.Errorf("%s %s is left behind", strings.TrimSuffix(resource.Resource, "s"), left[0].GetName())
		}
	}
	return nil
}

// ownedByTheCluster says whether an object is there in every cluster: an APIService that the API server serves itself.
func ownedByTheCluster(u unstructured.Unstructured) bool {
	service, found, err := unstructured.NestedMap(u.Object, "spec", "service")
	return u.GetKind() == "APIService" && err == nil && (!found || len(service) == 0)
}
