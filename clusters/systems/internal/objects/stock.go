package objects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

// The kinds that a system may add to the API server beside CustomResourceDefinitions, or that others are in.
var (
	APIServiceKind     = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	apiServiceResource = APIServiceKind.WithVersion("v1").GroupVersion().WithResource("apiservices")
	NamespaceKind      = schema.GroupKind{Kind: "Namespace"}
	namespaceResource  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// Stock lists the objects of the kinds that a simulator may create and that must be deleted with it: namespaces with
// their content, CustomResourceDefinitions and APIServices. own are those that the field manager has applied.
func (c *Client) Stock(ctx context.Context, manager string) (all, own []Reference, err error) {
	err = each(ctx, c.metadata, func(r Reference, item metav1.PartialObjectMetadata) {
		all = append(all, r)
		if slices.Contains(Managers(item.ManagedFields), manager) {
			own = append(own, r)
		}
	})
	return all, own, err
}

// Foreign lists the CustomResourceDefinitions and APIServices of API groups that no such field manager has applied.
func (c *Client) Foreign(ctx context.Context, groups, managers []string) (foreign []Reference, err error) {
	err = each(ctx, c.metadata, func(r Reference, item metav1.PartialObjectMetadata) {
		_, group, _ := strings.Cut(r.Name, ".") // both are called NAME.GROUP
		ours := slices.ContainsFunc(Managers(item.ManagedFields),
			func(name string) bool { return slices.Contains(managers, name) })
		if r.Kind != NamespaceKind && slices.Contains(groups, group) && !ours && item.Labels[automanaged] == "" &&
			item.Labels[Label] == "" {
			foreign = append(foreign, r)
		}
	})
	return foreign, err
}

// automanaged is the label of the APIServices that an API server makes for its own APIs and for those of
// CustomResourceDefinitions.
const automanaged = "kube-aggregator.kubernetes.io/automanaged"

// Managers are the names of an object's field managers.
func Managers(fields []metav1.ManagedFieldsEntry) []string {
	var names []string
	for _, entry := range fields {
		names = append(names, entry.Manager)
	}
	return names
}

// each visits the objects of these kinds. It reads only metadata, because the objects may be large.
func each(ctx context.Context, client metadata.Interface, visit func(Reference, metav1.PartialObjectMetadata)) error {
	for _, part := range []struct {
		kind     schema.GroupKind
		resource schema.GroupVersionResource
	}{
		{NamespaceKind, namespaceResource}, {CRDKind, crdResource}, {APIServiceKind, apiServiceResource},
	} {
		list, err := client.Resource(part.resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // this API server has no aggregation
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", part.resource.Resource, err)
		}
		for _, item := range list.Items {
			visit(Reference{Kind: part.kind, Version: part.resource.Version, Name: item.Name}, item)
		}
	}
	return nil
}

// available returns an error that describes the conditions of an APIService, until it is available.
func (c *Client) available(ctx context.Context, name string) error {
	service, err := c.dynamic.Resource(apiServiceResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedFieldNoCopy(service.Object, "status", "conditions")
	if !conditionTrue(conditions, "Available") {
		return fmt.Errorf("its conditions are %v", conditions)
	}
	return nil
}

// Served returns an error that describes what is missing, until a CustomResourceDefinition or an APIService is served.
func (c *Client) Served(ctx context.Context, r Reference) error {
	switch r.Kind {
	case CRDKind:
		return c.crdServed(ctx, r.Name)
	case APIServiceKind:
		return c.available(ctx, r.Name)
	}
	return nil
}
