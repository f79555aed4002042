package survey

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// observation is what the API server serves and stores at one moment.
type observation struct {
	inventory.Inventory
	// lists are the objects of each kind in each version, by uid, or the error of listing them.
	lists map[schema.GroupVersionKind]list
	// examined are the kinds of the given objects and of their possible dependents.
	examined map[schema.GroupKind]bool
	// targets are the given objects that exist, and what controllers made for them.
	targets []*Target
	// hidden are dependents that were there before, and whose kind cannot be listed.
	hidden []*Target
	// rechecked are the outcomes of the second search for objects that the list of a version does not have.
	rechecked map[gap]Outcome
	// early is why an object that has not moved may still do so; "" if controllers have had their chance.
	early string
}

type list struct {
	objects map[string]*unstructured.Unstructured
	err     error
	// singly are the errors of reading each given object on its own, by uid, if the list failed: a single object can make
	// its whole kind unlistable. Objects that could be read are in objects.
	singly map[string]error
}

// look discovers the served kinds, and reads all objects of the targets' kinds in every version.
func (s *Survey) look(ctx context.Context) (*observation, error) {
	now, err := inventory.Take(ctx, s.discovery)
	if err != nil {
		return nil, err
	}
	found := &observation{Inventory: now, lists: map[schema.GroupVersionKind]list{}}
	definitions, err := inventory.List(ctx, s.client, served.Definitions)
	if err != nil {
		return nil, fmt.Errorf("read the CustomResourceDefinitions: %w", err)
	}
	found.examined = kindsAround(s.targets, customKinds(definitions))
	for kind := range found.examined {
		if how := found.Kinds[kind]; how != nil {
			for _, version := range how.Versions {
				found.lists[kind.WithVersion(version)] = listEach(ctx, s.client, s.targets, kind, how.In(kind.Group, version))
			}
		}
	}
	s.findTargets(found)
	return found, context.Cause(ctx)
}

// listEach lists the objects of a kind. If that is impossible, it reads each of the targets of the kind on its own.
func listEach(ctx context.Context, client dynamic.Interface, targets []*Target, kind schema.GroupKind,
	in schema.GroupVersionResource,
) list {
	objects, err := inventory.List(ctx, client, in)
	l := list{objects: objects, err: err}
	if !unlistable(err) {
		return l
	}
	l.objects, l.singly = map[string]*unstructured.Unstructured{}, map[string]error{}
	var lock sync.Mutex
	var working errgroup.Group
	working.SetLimit(readAtOnce)
	for _, t := range targets {
		if t.GVK.GroupKind() != kind || t.UID == "" {
			continue
		}
		working.Go(func() error {
			o, err := client.Resource(in).Namespace(t.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
			lock.Lock()
			defer lock.Unlock()
			switch {
			case err == nil && string(o.GetUID()) == t.UID:
				l.objects[t.UID] = o
			case err != nil && !apierrors.IsNotFound(err):
				l.singly[t.UID] = err
			}
			return nil
		})
	}
	_ = working.Wait() // the functions return no errors
	return l
}

// readAtOnce is how many objects are read at once.
const readAtOnce = 8

// unlistable reports whether an error of a list is the API server's answer about the objects: they cannot be listed.
func unlistable(err error) bool {
	return err != nil && (writes.Judge(err) == writes.Rejected || serverError(err) || writes.Undecodable(err))
}

// serverError reports whether the API server answered with an internal error (500).
func serverError(err error) bool {
	status, ok := writes.StatusOf(err)
	return ok && status.Code == http.StatusInternalServerError
}
