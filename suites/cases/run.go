package cases

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Options are the number of cases, and the clusters on which they are judged.
type Options struct {
	// Cases is the number of cases for each rule.
	Cases int
	// Seed of the cases. It must not be 0. The same seed draws the same cases.
	Seed uint64
	// Provider creates the clusters. Simulators are for their systems.
	Provider   clusters.Provider
	Simulators systems.Simulators
	// Prefix of the clusters' names. These must be unique on the machine.
	Prefix string
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
}

// removeTimeout is the maximum duration of the deletion of a cluster, or of the objects in it.
const removeTimeout = 2 * time.Minute

// Run judges the cases of all rules, in order. Consecutive rules whose states differ only in their systems share a
// cluster. If a rule could not be judged, its result contains the error. The returned error is about the clusters.
func Run(ctx context.Context, rules []Rule, o Options) ([]Result, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	var results []Result
	var errs []error
	for len(rules) > 0 {
		n := 1
		for n < len(rules) && sameCluster(rules[0].State, rules[n].State) {
			n++
		}
		judged, err := o.share(ctx, rules[:n], len(results))
		for _, rule := range rules[len(judged):n] {
			judged = append(judged, Result{Rule: rule, Seed: o.Seed, Err: fmt.Errorf("it was not reached: %w", err)})
		}
		results, errs, rules = append(results, judged...), append(errs, err), rules[n:]
	}
	return results, errors.Join(errs...)
}

func sameCluster(a, b clusters.State) bool {
	a.Systems, b.Systems = nil, nil
	return reflect.DeepEqual(a, b)
}

// share judges rules on one cluster, in order, until the cluster or a cleanup fails. It returns the results so far.
func (o Options) share(ctx context.Context, rules []Rule, number int) (results []Result, err error) {
	name := fmt.Sprintf("%s-cases-%d", o.Prefix, number+1)
	err = o.onCluster(ctx, name, rules[0].State, func(c clusters.Cluster, set *systems.Set) error {
		for i, rule := range rules {
			if err := set.Converge(ctx, rule.State.Systems); err != nil {
				return err
			}
			o.Progress("%d cases of %s, seed %d", o.Cases, rule.Name, o.Seed)
			result, err := o.one(ctx, c, rule, fmt.Sprintf("%s-%d", name, i+1))
			if result != nil {
				results = append(results, *result)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("judge generated cases on cluster %s: %w", name, err)
	}
	return results, err
}

// onCluster creates a cluster, calls a function with the cluster and its systems, and removes both.
func (o Options) onCluster(ctx context.Context, name string, state clusters.State,
	do func(clusters.Cluster, *systems.Set) error,
) (err error) {
	if state, err = o.Provider.Resolve(ctx, state); err != nil {
		return err
	}
	if err := errors.Join(o.Provider.Check(ctx, []clusters.State{state}), systems.Check(ctx, state.Systems,
		o.Simulators, nil)); err != nil {
		return err
	}
	if err := o.Provider.Prepare(ctx, state); err != nil {
		return err
	}
	c, err := o.Provider.Create(ctx, name, state)
	if err != nil {
		return err
	}
	defer func() {
		removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		err = errors.Join(err, c.Delete(removal))
	}()
	_, borrowed := o.Provider.(clusters.Borrower)
	set, err := systems.New(c, systems.Options{Simulators: o.Simulators, Progress: o.Progress, Borrowed: borrowed})
	if err != nil {
		return err
	}
	defer func() {
		removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		err = errors.Join(err, set.Close(removal, borrowed))
	}()
	return do(c, set)
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// one judges the cases of a rule in a namespace of its own. The result is nil if the rule was not reached.
func (o Options) one(ctx context.Context, c clusters.Cluster, rule Rule, namespace string) (result *Result, err error) {
	client, err := dynamic.NewForConfig(writes.Configure(c.RESTConfig(), "rehearse"))
	if err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", c.Name(), err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": namespace},
	}}
	if _, err := client.Resource(namespaces).Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("make a namespace for the cases of %s: %w", rule.Name, err)
	}
	defer func() {
		removal := context.WithoutCancel(ctx)
		if deleted := client.Resource(namespaces).Delete(removal, namespace, metav1.DeleteOptions{}); deleted != nil {
			err = errors.Join(err, fmt.Errorf("remove namespace %s: %w", namespace, deleted))
		}
	}()
	judged := check(ctx, World{Client: client, Namespace: namespace, Seed: o.Seed}, rule, o.Cases)
	return &judged, nil
}
