package survey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// served is how the API server serves one kind.
type served struct {
	resource   string
	namespaced bool
	// versions in the API server's order of preference.
	versions []string
	// status says that there is a subresource of that name that can be written.
	status bool
}

func (s *served) in(group, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: s.resource}
}

// sight is what there is at one moment.
type sight struct {
	kinds map[schema.GroupKind]*served
	// undiscovered are groups whose kinds the API server could not tell, and why.
	undiscovered map[string]error
	// lists of each kind in each version, by uid, or why there is none.
	lists map[schema.GroupVersionKind]list
	// targets that are there, those that controllers made with them.
	targets []*Target
}

type list struct {
	objects map[string]*unstructured.Unstructured
	err     error
}

// look discovers what is served, and reads all objects of the targets' kinds in every version.
func (s *Survey) look(ctx context.Context) (*sight, error) {
	found := &sight{
		kinds: map[schema.GroupKind]*served{}, undiscovered: map[string]error{},
		lists: map[schema.GroupVersionKind]list{},
	}
	if err := s.discover(ctx, found); err != nil {
		return nil, err
	}
	wanted := map[schema.GroupKind]bool{}
	for _, t := range s.targets {
		wanted[t.GVK.GroupKind()] = true
	}
	for _, kind := range dependentKinds() {
		wanted[kind] = true
	}
	for kind := range wanted {
		if how := found.kinds[kind]; how != nil {
			for _, version := range how.versions {
				found.lists[kind.WithVersion(version)] = s.list(ctx, how.in(kind.Group, version))
			}
		}
	}
	s.findTargets(found)
	return found, context.Cause(ctx)
}

func (s *Survey) discover(ctx context.Context, found *sight) error {
	var groups []*metav1.APIGroup
	var resources []*metav1.APIResourceList
	_, err := persist(ctx, func(context.Context) error {
		var err error
		groups, resources, err = s.discovery.ServerGroupsAndResources()
		var partly *discovery.ErrGroupDiscoveryFailed
		if errors.As(err, &partly) {
			for gv, cause := range partly.Groups {
				found.undiscovered[gv.Group] = cause
			}
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("ask the API server which kinds it serves: %w", err)
	}
	rank := map[string]int{}
	for _, group := range groups {
		for i, version := range group.Versions {
			rank[version.GroupVersion] = i
		}
	}
	slices.SortStableFunc(resources,
		func(a, b *metav1.APIResourceList) int { return rank[a.GroupVersion] - rank[b.GroupVersion] })
	for _, list := range resources {
		found.take(list)
	}
	return nil
}

func (f *sight) take(list *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return
	}
	names := map[string]*served{}
	for _, r := range list.APIResources {
		if slices.Contains(r.Verbs, "list") {
			kind := schema.GroupKind{Group: gv.Group, Kind: r.Kind}
			if f.kinds[kind] == nil {
				f.kinds[kind] = &served{resource: r.Name, namespaced: r.Namespaced}
			}
			f.kinds[kind].versions = append(f.kinds[kind].versions, gv.Version)
			names[r.Name+"/status"] = f.kinds[kind]
		}
	}
	for _, r := range list.APIResources {
		if how := names[r.Name]; how != nil && slices.Contains(r.Verbs, "update") {
			how.status = true
		}
	}
}

// list reads all objects of a resource, page by page.
func (s *Survey) list(ctx context.Context, resource schema.GroupVersionResource) list {
	objects := map[string]*unstructured.Unstructured{}
	_, err := persist(ctx, func(ctx context.Context) error {
		clear(objects)
		options := metav1.ListOptions{Limit: 500}
		for {
			page, err := s.client.Resource(resource).List(ctx, options)
			if err != nil {
				return err
			}
			for i := range page.Items {
				objects[string(page.Items[i].GetUID())] = &page.Items[i]
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				return nil
			}
		}
	})
	if err != nil {
		return list{err: err}
	}
	return list{objects: objects}
}

// Times that a request is tried again for while its outcome is unknown.
const (
	patience  = 15 * time.Second
	firstWait = 50 * time.Millisecond
	lastWait  = 2 * time.Second
	oneTry    = 30 * time.Second
)

// persist sends a request until it is accepted or refused, or for as long as patience lasts.
func persist(ctx context.Context, send func(context.Context) error) (writes.Outcome, error) {
	began := time.Now()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		try, cancel := context.WithTimeout(ctx, oneTry)
		err := send(try)
		cancel()
		outcome := writes.Judge(err)
		if outcome != writes.Unknown || undecodable(err) || ctx.Err() != nil || time.Since(began) > patience {
			return outcome, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return outcome, err
		}
	}
}

// wordsOf are the API server's own words in an error.
func wordsOf(err error) string {
	status, ok := writes.StatusOf(err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("%d %s: %s", status.Code, status.Reason, status.Message)
}

// serverError says whether the API server itself said that it cannot do what it was asked for.
func serverError(err error) bool {
	status, ok := writes.StatusOf(err)
	return ok && status.Code == http.StatusInternalServerError
}
