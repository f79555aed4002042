// Package served finds out how an API server serves kinds, and whether it may serve a missing kind a moment later.
package served

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// Kind is how an API server serves a kind.
type Kind struct {
	Resource   schema.GroupVersionResource
	Namespaced bool
	// Unstored: a creation is only answered, as that of a SelfSubjectReview. There is nothing to read or to remove.
	Unstored bool
}

// Kinds finds out from the API server's discovery documents how kinds are served. It caches the kinds that it found
// until Reset. It asks again for kinds that were not served. It is safe for concurrent use.
type Kinds struct {
	client rest.Interface
	// peers says that the API server forwards requests for kinds that only its peers serve.
	peers bool

	mu    sync.Mutex
	known map[schema.GroupVersionKind]Kind
	// resets counts the resets, so that an answer from before a reset is not cached.
	resets int
	// servers are the versions of Kubernetes that the track has had, the current one last; "" if unknown.
	servers []string
	// found is the index in servers of the last server that served a kind.
	found map[schema.GroupVersionKind]int
	// all are the Kinds of the cluster's API servers, with this one. They know the same written objects.
	all *cluster
	origins
}

// NewKinds uses the given client (discovery's) of an API server. server is its version, "" if unknown.
func NewKinds(client rest.Interface, server string) *Kinds {
	k := &Kinds{
		client: client, known: map[schema.GroupVersionKind]Kind{},
		servers: []string{server}, found: map[schema.GroupVersionKind]int{}, all: &cluster{}, origins: newOrigins(),
	}
	k.all.kinds = []*Kinds{k}
	return k
}

// Find returns how a kind is served. The error is a *NotServedError if the API server does not serve it. Any other
// error means that the API server could not be asked.
func (k *Kinds) Find(ctx context.Context, gvk schema.GroupVersionKind) (Kind, error) {
	k.mu.Lock()
	kind, ok := k.known[gvk]
	resets := k.resets
	k.mu.Unlock()
	if ok {
		return kind, nil
	}
	served, err := k.fetch(ctx, gvk.GroupVersion())
	if err == nil && k.peers && !slices.Contains(kindsOf(served), gvk.Kind) {
		served, err = k.fetchUnion(ctx, gvk.GroupVersion())
	}
	if err != nil {
		return Kind{}, err
	}
	found := map[schema.GroupVersionKind]Kind{}
	for _, r := range served {
		if !strings.Contains(r.Name, "/") {
			found[gvk.GroupVersion().WithKind(r.Kind)] = Kind{
				Resource:   gvk.GroupVersion().WithResource(r.Name),
				Namespaced: r.Namespaced, Unstored: len(r.Verbs) > 0 && !slices.Contains(r.Verbs, "get"),
			}
		}
	}
	k.mu.Lock()
	if k.resets == resets {
		maps.Copy(k.known, found)
	}
	for each := range found {
		k.found[each] = len(k.servers) - 1
	}
	k.mu.Unlock()
	if kind, ok = found[gvk]; !ok {
		return Kind{}, k.notServed(ctx, gvk, kindsOf(served))
	}
	return kind, nil
}

// answerWithin is how long the API server may take to answer a question.
const answerWithin = 10 * time.Second

// Await returns how a kind is served as soon as it is served. After the given time, it returns Find's last error. The
// time limits the pauses between the questions: one that is asked near the end must not count as unanswered. It does
// not wait for a kind that nothing on the track can define.
func Await(ctx context.Context, kinds *Kinds, gvk schema.GroupVersionKind, within time.Duration) (Kind, error) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	again := pauses.Growing(25*time.Millisecond, time.Second)
	var last error
	for {
		kind, err := kinds.ask(ctx, gvk)
		if err == nil {
			return kind, nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		var none *NotServedError
		if errors.As(err, &none) && !none.MayAppear {
			return Kind{}, err
		}
		if !pauses.Wait(limited, again) {
			return Kind{}, last
		}
	}
}

func (k *Kinds) ask(ctx context.Context, gvk schema.GroupVersionKind) (Kind, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return k.Find(ctx, gvk)
}

// Reset clears the cache, so that the API server is asked again.
func (k *Kinds) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reset()
}

func (k *Kinds) reset() {
	clear(k.known)
	k.resets++
}

// Cross clears the cache after a transition to a version; "" if unknown.
func (k *Kinds) Cross(server string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reset()
	k.servers = append(k.servers, server)
	k.more = true // a restarted API server discovers custom kinds with a delay
}

func (k *Kinds) fetch(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	path := []string{"/apis", gv.Group, gv.Version}
	if gv.Group == "" {
		path = []string{"/api", gv.Version}
	}
	var list metav1.APIResourceList
	err := k.client.Get().AbsPath(path...).Do(ctx).Into(&list)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask the API server which kinds of %s it serves: %w", gv, err)
	}
	return list.APIResources, nil
}
