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

	"github.com/rehearse-dev/rehearse/harness/pauses"
)

// Kind is how an API server serves a kind.
type Kind struct {
	Resource   schema.GroupVersionResource
	Namespaced bool
}

// Kinds finds out from the API server's discovery documents how kinds are served. What it found stays known until
// Reset; that a kind is not served is asked anew each time. It is safe for concurrent use.
type Kinds struct {
	client rest.Interface
	// peers: the API server passes requests for what others serve on to them.
	peers bool

	mu    sync.Mutex
	known map[schema.GroupVersionKind]Kind
	// resets counts them, so that an answer from before a reset is not kept.
	resets int
	// servers are the versions of Kubernetes that the track has had, the present one last; "" where it is not known.
	servers []string
	// found is the last server, by its index in servers, that served a kind.
	found map[schema.GroupVersionKind]int
	origins
}

// NewKinds asks through the given client (discovery's) an API server of that version, "" where it is not known.
func NewKinds(client rest.Interface, server string) *Kinds {
	return &Kinds{
		client: client, known: map[schema.GroupVersionKind]Kind{},
		servers: []string{server}, found: map[schema.GroupVersionKind]int{}, origins: newOrigins(),
	}
}

// Find returns how a kind is served. The error is a *NotServedError when the API server has said so, anything else when
// it could not be asked.
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
				Namespaced: r.Namespaced,
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

// Await returns how a kind is served as soon as it is. When the context ends first, the error is what Find said last. A
// kind that nothing on the track could bring is not waited for.
func Await(ctx context.Context, kinds *Kinds, gvk schema.GroupVersionKind) (Kind, error) {
	again := pauses.Growing(25*time.Millisecond, time.Second)
	var last error
	for {
		kind, err := kinds.Find(ctx, gvk)
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
		if !pauses.Wait(ctx, again) {
			return Kind{}, last
		}
	}
}

// Reset forgets what is known, so that the API server is asked again.
func (k *Kinds) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reset()
}

func (k *Kinds) reset() {
	clear(k.known)
	k.resets++
}

// Cross forgets what is known after a transition to a version; "" where it is not known.
func (k *Kinds) Cross(server string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reset()
	k.servers = append(k.servers, server)
	k.more = true // an API server that has just started finds out about custom kinds a moment later
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
