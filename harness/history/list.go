package history

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// list gets the objects in scope by a consistent read, page by page, and the resourceVersion of that read.
func (s *Stream) list(ctx context.Context, scope Scope) ([]*unstructured.Unstructured, string, error) {
	var client dynamic.ResourceInterface = s.recorder.client.Resource(s.resource)
	if scope.Namespace != "" {
		client = s.recorder.client.Resource(s.resource).Namespace(scope.Namespace)
	}
	options := scope.listOptions()
	options.Limit = s.recorder.pageSize
	var objects []*unstructured.Unstructured
	for {
		page, err := getPage(ctx, client, options)
		if err != nil {
			return nil, "", fmt.Errorf("listing %s, %s: %w", s.resource.GroupResource(), scope, withoutURL(err))
		}
		for i := range page.Items {
			withoutManagedFields(&page.Items[i])
			objects = append(objects, &page.Items[i])
		}
		options.Continue = page.GetContinue()
		if options.Continue == "" {
			return objects, page.GetResourceVersion(), nil
		}
	}
}

func getPage(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return client.List(ctx, options)
}

// withoutURL is a transport's error without the address of the request, which says nothing that the rest does not.
func withoutURL(err error) error {
	var transport *url.Error
	if errors.As(err, &transport) {
		return transport.Err
	}
	return err
}
