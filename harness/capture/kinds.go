package capture

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// kinds are the resources that a cluster stores and lists.
type kinds struct {
	resources []storage.Resource
	// served are the group versions of the API server itself.
	served        []string
	missing, left []Missing
}

var (
	definitions = storage.Resource{
		Group: storage.Extensions, Version: "v1", Name: "customresourcedefinitions",
		Kind: "CustomResourceDefinition",
	}
	apiServices = storage.Resource{Group: storage.Aggregation, Version: "v1", Name: "apiservices", Kind: "APIService"}
)

// findKinds discovers the cluster's resources, each once, in its preferred version. For a custom resource it is the
// stored version, which needs no conversion.
func (s *Source) findKinds(ctx context.Context) (*kinds, error) {
	var served inventory.Served
	k := &kinds{}
	err := s.persist(ctx, func() (err error) {
		served, err = inventory.Discover(s.found)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", s.name, err)
	}
	stored, err := s.storedVersions(ctx)
	if err != nil {
		return nil, err
	}
	aggregated, err := s.aggregated(ctx)
	if err != nil {
		return nil, err
	}
	for gv, cause := range served.Undiscovered {
		if aggregated[gv.String()] {
			k.left = append(k.left, Missing{gv.String(), "it is served by an aggregated API " +
				"server that does not answer"})
		} else {
			k.missing = append(k.missing, Missing{
				gv.String(),
				"the API server could not list what it serves: " + cause.Error(),
			})
		}
	}
	k.sort(served.Lists, stored, aggregated)
	return k, nil
}

// storedVersions returns the stored versions of custom resources, by name, such as orders.example.com. It is empty if
// the definitions cannot be read. Then no custom resources are read either.
func (s *Source) storedVersions(ctx context.Context) (map[string]string, error) {
	stored := map[string]string{}
	err := s.list(ctx, definitions, func() { clear(stored) }, func(items []unstructured.Unstructured) error {
		for _, item := range items {
			stored[item.GetName()] = storageVersion(item)
		}
		return nil
	})
	if err != nil && !isRejected(err) {
		return nil, fmt.Errorf("list the definitions of custom resources of cluster %s: %w", s.name, err)
	}
	return stored, nil
}

// storageVersion returns the stored version of a definition; "" if it is not served.
func storageVersion(definition unstructured.Unstructured) string {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, version := range versions {
		if fields, ok := version.(map[string]any); ok && fields["storage"] == true && fields["served"] == true {
			name, _ := fields["name"].(string)
			return name
		}
	}
	return ""
}

// aggregated returns the group versions of aggregated API servers: the well-known ones, and those of the APIServices,
// if these can be read.
func (s *Source) aggregated(ctx context.Context) (map[string]bool, error) {
	others := map[string]bool{
		"metrics.k8s.io/v1beta1": true, "custom.metrics.k8s.io/v1beta2": true,
		"external.metrics.k8s.io/v1beta1": true,
	}
	err := s.list(ctx, apiServices, func() {}, func(items []unstructured.Unstructured) error {
		for _, item := range items {
			if service, _, _ := unstructured.NestedMap(item.Object, "spec", "service"); service != nil {
				group, _, _ := unstructured.NestedString(item.Object, "spec", "group")
				version, _, _ := unstructured.NestedString(item.Object, "spec", "version")
				others[group+"/"+version] = true
			}
		}
		return nil
	})
	if err != nil && !isRejected(err) {
		return nil, fmt.Errorf("list the APIServices of cluster %s: %w", s.name, err)
	}
	return others, nil
}

// sort selects the stored resources from discovery's lists. The lists of a group are in its order of preference.
func (k *kinds) sort(lists []*metav1.APIResourceList, stored map[string]string, aggregated map[string]bool) {
	taken := map[schema.GroupResource]int{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		if aggregated[list.GroupVersion] {
			k.left = append(k.left, Missing{
				list.GroupVersion,
				"it is served by an aggregated API server, which stores its own objects",
			})
			continue
		}
		own := true
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			resource := storage.Resource{
				Group: gv.Group, Version: gv.Version, Name: r.Name, Kind: r.Kind,
				Namespaced: r.Namespaced,
			}
			version, custom := stored[r.Name+"."+gv.Group]
			resource.Custom = custom
			own = own && !custom
			if k.leaves(resource) {
				continue
			}
			if at, twice := taken[resource.GroupResource()]; twice {
				if custom && version == gv.Version {
					k.resources[at] = resource
				}
				continue
			}
			taken[resource.GroupResource()] = len(k.resources)
			k.resources = append(k.resources, resource)
		}
		if own && known(gv.Group) {
			k.served = append(k.served, list.GroupVersion)
		}
	}
	slices.SortStableFunc(k.resources, func(a, b storage.Resource) int { return cmp.Compare(rank(a), rank(b)) })
	k.left, k.missing = slices.Compact(k.left), slices.Compact(k.missing)
}

// leaves reports whether a resource is not read, and notes why.
func (k *kinds) leaves(r storage.Resource) bool {
	if why := unstored(r); why != "" {
		k.left = append(k.left, Missing{r.GroupResource().String(), why})
		return true
	}
	if !r.Custom && !known(r.Group) {
		k.missing = append(k.missing, Missing{
			r.GroupResource().String(),
			"its group is not Kubernetes' own, and no definition of a custom resource of that name could be read",
		})
		return true
	}
	return false
}

// unstored returns why a resource is never captured; "" if it is captured.
func unstored(r storage.Resource) string {
	switch {
	case r.Name == "events" && (r.Group == "" || r.Group == "events.k8s.io"):
		return "they only record what happened, and expire"
	case r.Name == "componentstatuses" && r.Group == "":
		return "they are not stored"
	}
	return ""
}

// rank orders resources: those that others need come first.
func rank(r storage.Resource) int {
	switch {
	case r.Name == "namespaces" && r.Group == "":
		return 0
	case r == definitions:
		return 1
	case r.Custom:
		return 3
	}
	return 2
}

// known reports whether a group is Kubernetes' own.
func known(group string) bool {
	return group == "" || scheme.Scheme.IsGroupRegistered(group) || group == storage.Extensions ||
		group == storage.Aggregation
}

func gitVersion(raw []byte) (string, error) {
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", fmt.Errorf("its version is no JSON: %w", err)
	}
	return info.GitVersion, nil
}
