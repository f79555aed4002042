package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/served"
)

// Writes returns a function that tells which revisions may have changed objects of a resource in a cluster; nil if the
// cluster cannot be asked. The function returns an error if the cluster's storage does not have the objects.
func Writes(cluster clusters.Cluster) func(ctx context.Context, resource schema.GroupResource, after, upTo int64) (
	[]int64, error,
) {
	lister, able := cluster.(clusters.WriteLister)
	if !able {
		return nil
	}
	return func(ctx context.Context, resource schema.GroupResource, after, upTo int64) ([]int64, error) {
		if err := storedHere(ctx, cluster, resource.Group); err != nil {
			return nil, err
		}
		written, err := lister.Written(ctx, after, upTo)
		if err != nil {
			return nil, err
		}
		var revisions []int64
		for revision, keys := range written {
			if slices.ContainsFunc(keys, func(key string) bool { return mayBe(key, resource) }) {
				revisions = append(revisions, revision)
			}
		}
		return revisions, nil
	}
}

var apiServices = schema.GroupVersionResource{Group: Aggregation, Version: "v1", Resource: "apiservices"}

// storedHere returns an error if another API server may serve the group: it has its own storage, so the keys of this
// one say nothing.
func storedHere(ctx context.Context, cluster clusters.Cluster, group string) error {
	if !served.MayBeCustom(group) {
		return nil
	}
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", cluster.Name(), err)
	}
	services, err := client.Resource(apiServices).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("find out which API server serves %s: %w", group, err)
	}
	for _, service := range services.Items {
		of, _, _ := unstructured.NestedString(service.Object, "spec", "group")
		if _, elsewhere, _ := unstructured.NestedMap(service.Object, "spec", "service"); of == group && elsewhere {
			return fmt.Errorf("%s is served by the API server of APIService %s, which has its own storage", group,
				service.GetName())
		}
	}
	return nil
}

// mayBe reports whether a key may be of an object of a resource: it is, or its folder is unknown. One folder can hold
// resources of several groups.
func mayBe(key string, resource schema.GroupResource) bool {
	if !strings.HasPrefix(key, Prefix) {
		return false
	}
	named, _ := Named(key)
	if strings.Contains(named.Group, ".") && strings.HasPrefix(key, Prefix+named.Group+"/") {
		return named == resource
	}
	_, known := groups()[named.Resource]
	return !known || named.Resource == resource.Resource
}
