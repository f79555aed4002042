package harness

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// podMakers are the resources whose controllers create pods.
func podMakers() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "apps", Version: "v1", Resource: "replicasets"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
		{Group: "batch", Version: "v1", Resource: "jobs"},
		{Version: "v1", Resource: "replicationcontrollers"},
	}
}

// workloadRemoval returns a function that deletes everything that creates pods in a namespace, just after the deletion of
// the namespace has begun; nil if the namespace has no pods. The namespace controller deletes the pods first. Until it
// reaches their owners, the controllers of these try to create the pods again, which a terminating namespace rejects.
// kube-controller-manager repeats at most ten failed attempts of each kind in a second
// (DefaultTypedControllerRateLimiter of client-go), so the workloads of other scenarios would have to wait for minutes
// after a conflict. Errors do not matter: the namespace controller deletes what is left.
func workloadRemoval(ctx context.Context, client dynamic.Interface, namespace string) func() {
	list, err := client.Resource(podResource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || len(list.Items) == 0 {
		return nil
	}
	return func() {
		policy := metav1.DeletePropagationBackground
		for _, resource := range podMakers() {
			_ = client.Resource(resource).Namespace(namespace).DeleteCollection(ctx,
				metav1.DeleteOptions{PropagationPolicy: &policy}, metav1.ListOptions{})
		}
	}
}
