package harness

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// ScenarioLabel marks the namespace of a scenario with its id.
const ScenarioLabel = "rehearse.dev/scenario"

// accountPatience is how long to wait for the default ServiceAccount. A cluster without a controller manager never
// creates it. If it takes longer, the API server rejects a pod, which is tried again.
const accountPatience = 10 * time.Second

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	podResource     = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// makeNamespace makes the scenario's namespace, like any object that a step makes.
func (s *scenarioRun) makeNamespace(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.shared.StepTimeout)
	defer cancel()
	v := s.writer.Do(limited, writes.Request{
		Manager: s.manager("namespace"),
		Step: &scenarios.Step{Create: scenarios.Object{
			"apiVersion": "v1",
			"kind":       "Namespace",
			"metadata":   map[string]any{"name": s.namespace, "labels": map[string]any{ScenarioLabel: s.namespace}},
		}},
	})
	if v.Status != reports.Passed {
		return fmt.Errorf("create the scenario's namespace: %s", v.Message)
	}
	there := make(chan struct{})
	s.account = there
	go func() {
		defer close(there)
		AwaitAccount(ctx, s.client, s.namespace)
	}()
	return nil
}

// awaitAccount waits for the namespace's default ServiceAccount, without which pods are rejected.
func (s *scenarioRun) awaitAccount(ctx context.Context) {
	select {
	case <-s.account:
	case <-ctx.Done():
	}
}

// AwaitAccount waits for the default ServiceAccount of a namespace, and reports whether it exists.
func AwaitAccount(ctx context.Context, client dynamic.Interface, namespace string) bool {
	ctx, cancel := context.WithTimeout(ctx, accountPatience)
	defer cancel()
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for {
		watcher, err := client.Resource(serviceAccounts).Namespace(namespace).Watch(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", "default").String(),
		})
		if err == nil && appears(ctx, watcher) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
		}
	}
}

// appears reports whether an object appeared before the watch ended. A watch without a resourceVersion also reports
// existing objects.
func appears(ctx context.Context, watcher watch.Interface) bool {
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case event, open := <-watcher.ResultChan():
			if !open || event.Type == watch.Error {
				return false
			}
			if event.Type == watch.Added || event.Type == watch.Modified {
				return true
			}
		}
	}
}

// manager returns a field manager that only one step of this run uses, so that the step recognizes what it wrote.
func (s *scenarioRun) manager(step string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.namespace)) // writing to a hash never fails
	return fmt.Sprintf("%s%x-%s", managersOf(s.shared.id), h.Sum64(), step)
}

// managersOf is how the names of a run's field managers begin.
func managersOf(run string) string { return "rehearse-" + run + "-" }

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

// workloadRemoval returns a function that deletes everything in a namespace that has one of the given resources or
// creates pods. It is nil if there are no such resources and no pods. It is called when the deletion of the namespace
// has begun. The namespace controller deletes the pods first. Until it reaches their owners, the controllers of these
// try to create the pods again, which a terminating namespace rejects. kube-controller-manager repeats at most ten
// failed attempts of each kind in a second (DefaultTypedControllerRateLimiter of client-go), so the workloads of other
// scenarios would have to wait for minutes after a conflict. An operator tries in vain, too, until its custom resources
// are deleted. Errors do not matter: the namespace controller deletes what is left.
func workloadRemoval(ctx context.Context, client dynamic.Interface, namespace string,
	custom []schema.GroupVersionResource,
) func() {
	all := custom
	list, err := client.Resource(podResource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err == nil && len(list.Items) > 0 {
		all = append(all, podMakers()...)
	}
	if len(all) == 0 {
		return nil
	}
	return func() {
		policy := metav1.DeletePropagationBackground
		for _, resource := range all {
			_ = client.Resource(resource).Namespace(namespace).DeleteCollection(ctx,
				metav1.DeleteOptions{PropagationPolicy: &policy}, metav1.ListOptions{})
		}
	}
}
