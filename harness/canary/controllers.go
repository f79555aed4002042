package canary

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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// workloadNamespace is the namespace of workloads. They have no pods.
const workloadNamespace = metav1.NamespaceSystem

// workloads are the kinds of workloads by resource.
var workloads = map[schema.GroupVersionResource]string{
	apps("statefulsets"): "StatefulSet",
	apps("deployments"):  "Deployment",
	apps("daemonsets"):   "DaemonSet",
}

func apps(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

// Workloads returns the resources of workloads.
func Workloads() []schema.GroupVersionResource {
	return slices.SortedFunc(maps.Keys(workloads), func(a, b schema.GroupVersionResource) int {
		return strings.Compare(a.Resource, b.Resource)
	})
}

// Handled creates a workload without pods of each resource, waits until its controller has handled it, and removes it.
// A controller-manager answers health checks before its controllers know the objects of the cluster. The error of a
// resource is why its workload was not handled; nil if it was.
func Handled(ctx context.Context, client dynamic.Interface, name string, of []schema.GroupVersionResource,
) map[schema.GroupVersionResource]error {
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := make(map[schema.GroupVersionResource]error, len(of))
	for _, resource := range of {
		all.Go(func() {
			err := tryOne(ctx, client, resource, name)
			mu.Lock()
			defer mu.Unlock()
			errs[resource] = err
		})
	}
	all.Wait()
	return errs
}

// tryOne is Handled for one resource.
func tryOne(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, name string) error {
	defer removeWorkload(context.WithoutCancel(ctx), client, resource, name) // also if the answer of its creation is lost
	made, err := createWorkload(ctx, client, resource, name)
	if err != nil {
		return fmt.Errorf("create it: %w", err)
	}
	return observed(ctx, client, resource, made)
}

// createWorkload creates a workload. It tries again until the API server accepts or rejects it.
func createWorkload(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, name string) (
	*unstructured.Unstructured, error,
) {
	again := pauses.Growing(10*time.Millisecond, 200*time.Millisecond)
	for {
		made, err := client.Resource(resource).Namespace(workloadNamespace).Create(ctx, workload(resource, name),
			metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // the answer of an earlier try was lost
			return workload(resource, name), nil
		}
		final := writes.Judge(err) != writes.Unknown || apierrors.IsNotFound(err) // the kind is not served
		if final || !pauses.Wait(ctx, again) {
			return made, err
		}
	}
}

// observed waits until the controller has handled the workload. It returns an error if the context ended first.
func observed(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource,
	made *unstructured.Unstructured,
) error {
	again := pauses.Growing(10*time.Millisecond, 200*time.Millisecond)
	for {
		now, err := client.Resource(resource).Namespace(workloadNamespace).Get(ctx, made.GetName(), metav1.GetOptions{})
		if err == nil {
			generation, _, _ := unstructured.NestedInt64(now.Object, "status", "observedGeneration")
			if generation >= max(1, made.GetGeneration()) {
				return nil
			}
		}
		if !pauses.Wait(ctx, again) {
			return errors.New("its status was not written until the time was over")
		}
	}
}

func removeWorkload(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, name string) {
	ctx, cancel := context.WithTimeout(ctx, removal)
	defer cancel()
	background := metav1.DeletePropagationBackground
	// A leftover has no pods.
	_ = client.Resource(resource).Namespace(workloadNamespace).Delete(ctx, name,
		metav1.DeleteOptions{PropagationPolicy: &background})
}

// workload returns a workload that makes no pods: it has no replicas, or there are no nodes for it.
func workload(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	marks := map[string]any{label: name}
	pod := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "none"}}}
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": marks},
		"template": map[string]any{"metadata": map[string]any{"labels": marks}, "spec": pod},
	}
	if workloads[resource] == "DaemonSet" {
		pod["nodeSelector"] = map[string]any{label: name}
	} else {
		spec["replicas"] = int64(0)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": workloads[resource],
		"metadata": map[string]any{"name": name, "labels": marks},
		"spec":     spec,
	}}
}
