package history

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// list returns the objects in scope, by a consistent read, page by page, and the resourceVersion of that read.
func (s *Stream) list(ctx context.Context, scope Scope) ([]*unstructured.Unstructured, string, error) {
	get := s.recorder.client.Resource(s.resource).Namespace(scope.Namespace).List
	var objects []*unstructured.Unstructured
	resourceVersion, err := pages(ctx, s, scope, get, func(page *unstructured.UnstructuredList) {
		for i := range page.Items {
			withoutManagedFields(&page.Items[i])
			objects = append(objects, &page.Items[i])
		}
	})
	return objects, resourceVersion, err
}

// identity says which object it is, and at which resourceVersion.
type identity struct {
	namespace, name string
	uid             types.UID
	resourceVersion string
}

// identities is like list, but returns only identities. It costs a tenth of list.
func (s *Stream) identities(ctx context.Context, scope Scope) ([]identity, string, error) {
	get := s.recorder.metadata.Resource(s.resource).Namespace(scope.Namespace).List
	var all []identity
	resourceVersion, err := pages(ctx, s, scope, get, func(page *metav1.PartialObjectMetadataList) {
		for i := range page.Items {
			o := &page.Items[i]
			all = append(all, identity{o.Namespace, o.Name, o.UID, o.ResourceVersion})
		}
	})
	return all, resourceVersion, err
}

// pages reads a list to its end.
func pages[L metav1.ListInterface](ctx context.Context, s *Stream, scope Scope,
	get func(context.Context, metav1.ListOptions) (L, error), take func(L),
) (string, error) {
	options := scope.listOptions()
	options.Limit = s.recorder.pageSize
	for {
		page, err := getPage(ctx, get, options)
		if err != nil {
			return "", fmt.Errorf("listing %s, %s: %w", s.resource.GroupResource(), scope, withoutURL(err))
		}
		take(page)
		options.Continue = page.GetContinue()
		if options.Continue == "" {
			return page.GetResourceVersion(), nil
		}
	}
}

func getPage[L any](ctx context.Context, get func(context.Context, metav1.ListOptions) (L, error),
	options metav1.ListOptions,
) (L, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return get(ctx, options)
}

// withoutURL returns a transport's error without the address of the request, which adds no information.
func withoutURL(err error) error {
	var transport *url.Error
	if errors.As(err, &transport) {
		return transport.Err
	}
	return err
}
