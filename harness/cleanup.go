package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
)

// removal removes what a scenario made.
type removal struct {
	run *scenarioRun
	// made are the objects to remove at the end, in the order in which they were made.
	made []writes.Made
}

// cleanUp removes what the scenario made, in reverse order, and waits until it is gone. An object that is not removed
// is an error of the scenario, in a step of its own that names what keeps the object: a scenario that leaves
// something behind has not passed.
//
// Objects outside of the scenario's namespace are always awaited, since they would disturb other scenarios. The
// namespace itself is awaited only while other scenarios run on the cluster, or if the cluster is borrowed: our own
// clusters are deleted with everything in them. Nothing is removed from a cluster that is kept. Nothing is removed
// from our own cluster if the run was interrupted or the cluster broke, even as expected. The same applies if the
// scenario ended with a component down that the API server needs to answer: such a scenario has its cluster to itself.
func (m *removal) cleanUp(ctx context.Context) {
	_, borrowed := planning.BorrowedFrom(m.run.shared.provider)
	broken := ctx.Err() != nil || m.run.shared.transitions.wreck() != nil || len(m.run.down) > 0
	if m.run.shared.Keep || !borrowed && broken {
		return
	}
	if borrowed {
		ctx = context.WithoutCancel(ctx)
	}
	began := time.Now()
	var err error
	for again := true; again; {
		crossings := m.run.shared.barrier.Crossings()
		err = m.removeMade(ctx, borrowed)
		// Removal may be impossible while other scenarios take the cluster through a transition.
		again = err != nil && m.run.shared.barrier.Settle(ctx, crossings)
	}
	if err != nil && ctx.Err() == nil { // an interrupt deletes the whole cluster
		step := &reports.Step{Name: "remove what the scenario made", Verb: reports.Cleanup}
		m.run.shared.Recorder.StartStep(m.run.entry.Report, step, m.run.shared.track.Path[m.run.at].String())
		m.run.shared.Recorder.FinishStep(m.run.entry.Report, step, reports.Outcome{
			Status:  reports.Error,
			Message: fmt.Sprintf("%v; tried for %s", err, time.Since(began).Round(time.Second)),
		})
	}
}

func (m *removal) removeMade(ctx context.Context, borrowed bool) error {
	limited, cancel := context.WithTimeout(ctx, m.run.shared.CleanupTimeout)
	defer cancel()
	namespace, others := m.divide()
	removed := make(chan struct{})
	var held error
	var removing sync.WaitGroup
	if namespace != nil {
		removing.Go(func() {
			// What others need comes last, but they may wait for it, as a PersistentVolume waits for its claim.
			select {
			case <-removed:
			case <-time.After(othersFirst):
			case <-ctx.Done():
			}
			held = m.removeNamespace(ctx, *namespace, borrowed, removed)
		})
	}
	problems := m.removeAll(limited, others)
	close(removed)
	removing.Wait()
	return errors.Join(append(problems, held)...)
}

// othersFirst is how long the removal of the namespace waits for that of other objects.
const othersFirst = time.Second

// divide separates the scenario's namespace from the other objects. It omits what is in the namespace.
func (m *removal) divide() (namespace *writes.Made, others []writes.Made) {
	for _, made := range m.made {
		switch {
		case made.Resource == namespaces && made.Name == m.run.namespace:
			namespace = &made
		case made.Namespaced && made.Namespace == m.run.namespace:
		default:
			others = append(others, made)
		}
	}
	slices.Reverse(others)
	return namespace, others
}

func (m *removal) removeAll(ctx context.Context, all []writes.Made) []error {
	problems := make([]error, len(all))
	var removing sync.WaitGroup
	for i, made := range all {
		removing.Go(func() { problems[i] = m.remove(ctx, made, nil) })
	}
	removing.Wait()
	return problems
}

// remove removes one object. If our own cluster serves no version of it any more, it stays until the cluster is
// deleted.
func (m *removal) remove(ctx context.Context, made writes.Made, deleted func()) error {
	err := writes.Remover{Client: m.run.client, Kinds: m.run.shared.kinds}.Remove(ctx, made, deleted)
	var none *served.NotServedError
	_, borrowed := planning.BorrowedFrom(m.run.shared.provider)
	if !borrowed && errors.As(err, &none) && none.Complete && len(none.Versions) == 0 {
		return nil
	}
	return err
}

// removeNamespace deletes the namespace. If the cluster will be deleted anyway, it waits only until the other objects
// are removed and the last scenario has ended.
func (m *removal) removeNamespace(ctx context.Context, namespace writes.Made, borrowed bool,
	others <-chan struct{},
) error {
	if borrowed {
		return m.removeOnce(ctx, namespace)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for _, over := range []<-chan struct{}{others, m.run.shared.quiet} {
			select {
			case <-over:
			case <-ctx.Done():
			}
		}
		cancel()
	}()
	err := m.removeQueued(ctx, namespace)
	select {
	case <-m.run.shared.quiet:
		return nil
	default:
		return err
	}
}

// queuePatience is for how many CleanupTimeouts removeQueued waits.
const queuePatience = 5

// removeQueued removes the namespace from our own cluster. If nothing is known to hold it after the CleanupTimeout, it
// waits longer: the namespace controller has a queue, and a slow machine needs time.
func (m *removal) removeQueued(ctx context.Context, namespace writes.Made) error {
	for waits := 1; ; waits++ {
		err := m.removeOnce(ctx, namespace)
		var still *writes.StillThereError
		if waits == queuePatience || ctx.Err() != nil || !errors.As(err, &still) || !still.Queued() {
			return err
		}
		if held := m.heldPods(ctx); len(held) > 0 {
			return fmt.Errorf("%w; its pods have finalizers: %s", err, strings.Join(held, ", "))
		}
	}
}

func (m *removal) removeOnce(ctx context.Context, namespace writes.Made) error {
	ctx, cancel := context.WithTimeout(ctx, m.run.shared.CleanupTimeout)
	defer cancel()
	brief, end := context.WithTimeout(ctx, m.run.shared.CleanupTimeout/4) // a webhook may hang
	defer end()
	return m.remove(ctx, namespace, workloadRemoval(brief, m.run.client, namespace.Name, m.customResources()))
}

// heldPods returns the names of the namespace's pods that have finalizers. The namespace controller does not report
// what is left before all pods are gone.
func (m *removal) heldPods(ctx context.Context) (held []string) {
	list, err := m.run.client.Resource(podResource).Namespace(m.run.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil // the next wait reports what is wrong
	}
	for _, pod := range list.Items {
		if finalizers := pod.GetFinalizers(); len(finalizers) > 0 {
			held = append(held, fmt.Sprintf("%s (%s)", pod.GetName(), strings.Join(finalizers, ", ")))
		}
	}
	return held
}

// customResources returns the custom resources of which the scenario made objects in its namespace.
func (m *removal) customResources() []schema.GroupVersionResource {
	var all []schema.GroupVersionResource
	for _, made := range m.made {
		if made.Namespaced && made.Namespace == m.run.namespace && served.MayBeCustom(made.Resource.Group) &&
			!slices.Contains(all, made.Resource) {
			all = append(all, made.Resource)
		}
	}
	return all
}
