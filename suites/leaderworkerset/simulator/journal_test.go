package simulator_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// journal has every change of the objects in a namespace, in the API server's order.
type journal struct {
	mu      sync.Mutex
	changes []change
	now     world
	woken   chan struct{}
}

type change struct {
	version int // the resource version, which orders the changes of all kinds
	deleted bool
	object  client.Object
}

// world is the state at one moment.
type world struct {
	services map[string]*corev1.Service
	pods     map[string]*corev1.Pod
	sets     map[string]*appsv1.StatefulSet
	lws      map[string]*api.LeaderWorkerSet
}

func newWorld() world {
	return world{
		map[string]*corev1.Service{},
		map[string]*corev1.Pod{},
		map[string]*appsv1.StatefulSet{},
		map[string]*api.LeaderWorkerSet{},
	}
}

// copy returns a copy of the state. It shares the objects, which are never changed.
func (w world) copy() world {
	return world{maps.Clone(w.services), maps.Clone(w.pods), maps.Clone(w.sets), maps.Clone(w.lws)}
}

func (w world) put(c change) {
	name := c.object.GetName()
	switch object := c.object.(type) {
	case *corev1.Service:
		w.services[name] = object
		if c.deleted {
			delete(w.services, name)
		}
	case *corev1.Pod:
		w.pods[name] = object
		if c.deleted {
			delete(w.pods, name)
		}
	case *appsv1.StatefulSet:
		w.sets[name] = object
		if c.deleted {
			delete(w.sets, name)
		}
	case *api.LeaderWorkerSet:
		w.lws[name] = object
		if c.deleted {
			delete(w.lws, name)
		}
	}
}

// watcher watches one kind in one namespace.
type watcher struct {
	client client.WithWatch
	list   client.ObjectList
	opts   []client.ListOption
}

func (w watcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.client.Watch(ctx, w.list.DeepCopyObject().(client.ObjectList),
		append(slices.Clone(w.opts), &client.ListOptions{Raw: &options})...)
}

func (b *bench) follow(t *testing.T, namespace string) *journal {
	t.Helper()
	j := &journal{now: newWorld(), woken: make(chan struct{}, 1)}
	for _, list := range []client.ObjectList{
		&corev1.ServiceList{}, &corev1.PodList{}, &appsv1.StatefulSetList{},
		&api.LeaderWorkerSetList{},
	} {
		if err := b.client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			j.add(change{object: item.(client.Object)})
		}
		w, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.GetResourceVersion(),
			watcher{b.client, list, []client.ListOption{client.InNamespace(namespace)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		go func() {
			for event := range w.ResultChan() {
				if object, ok := event.Object.(client.Object); ok && event.Type != watch.Bookmark {
					j.add(change{deleted: event.Type == watch.Deleted, object: object})
				}
			}
		}()
	}
	return j
}

func (j *journal) add(c change) {
	c.version, _ = strconv.Atoi(c.object.GetResourceVersion())
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changes = append(j.changes, c)
	j.now.put(c)
	select {
	case j.woken <- struct{}{}:
	default:
	}
}

// await waits until a condition holds, and returns that moment. It checks after every change.
func (j *journal) await(t *testing.T, what string, holds func(world) bool) world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		j.mu.Lock()
		met, now := holds(j.now), j.now.copy()
		j.mu.Unlock()
		if met {
			return now
		}
		select {
		case <-j.woken:
		case <-ctx.Done():
			t.Fatalf("waited for %s; now: %s", what, now)
		}
	}
}

// mark returns the newest version, from which replay can start.
func (j *journal) mark() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	newest := 0
	for _, c := range j.changes {
		newest = max(newest, c.version)
	}
	return newest
}

// replay goes through every moment since a mark, in the store's order.
func (j *journal) replay(since int, see func(at world, c change)) {
	j.mu.Lock()
	all := slices.Clone(j.changes)
	j.mu.Unlock()
	slices.SortStableFunc(all, func(a, b change) int { return a.version - b.version })
	w := newWorld()
	for _, c := range all {
		w.put(c)
		if c.version > since {
			see(w, c)
		}
	}
}

func (w world) String() string {
	var words []string
	for _, name := range sortedKeys(w.services) {
		words = append(words, "svc/"+name)
	}
	for _, name := range sortedKeys(w.pods) {
		pod := w.pods[name]
		words = append(words, fmt.Sprintf("pod/%s(%s %s deleting=%t)", name, pod.Labels[api.LabelRevision], pod.Status.Phase,
			pod.DeletionTimestamp != nil))
	}
	for _, name := range sortedKeys(w.sets) {
		set := w.sets[name]
		words = append(words, fmt.Sprintf("sts/%s(%d available %d)", name, *set.Spec.Replicas, set.Status.AvailableReplicas))
	}
	for _, name := range sortedKeys(w.lws) {
		words = append(words, fmt.Sprintf("lws/%s(%+v)", name, w.lws[name].Status))
	}
	return strings.Join(words, " ")
}

// available reports whether a LeaderWorkerSet is available in its newest generation.
func (w world) available(name string) bool {
	set := w.lws[name]
	if set == nil {
		return false
	}
	for _, condition := range set.Status.Conditions {
		if condition.Type == api.ConditionAvailable {
			return condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == set.Generation &&
				set.Status.Replicas == set.Replicas()
		}
	}
	return false
}

// serviceNames lists the Services, separated by commas.
func (w world) serviceNames() string {
	return strings.Join(sortedKeys(w.services), ",")
}
