package simulator_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/simulator"
)

func testRestarts(t *testing.T, b *bench, stop func()) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 1, 2, unique)

	// The API server restarts while the simulator runs.
	if err := b.cluster.Kill(t.Context(), clusters.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := b.cluster.Restart(t.Context(), clusters.APIServer); err != nil {
		t.Fatal(err)
	}
	poll(t, "scaling to be accepted", func(context.Context) bool { return b.scale(t, ns, "my-lws", 2) == nil })
	poll(t, "two replicas", func(ctx context.Context) bool {
		var set api.LeaderWorkerSet
		var services corev1.ServiceList
		return b.client.Get(ctx, client.ObjectKey{Namespace: ns, Name: "my-lws"}, &set) == nil &&
			set.Status.ReadyReplicas == 2 &&
			b.client.List(ctx, &services, client.InNamespace(ns)) == nil && len(services.Items) == 2
	})

	// An object from before KEP-173 stays unchanged when the simulator is upgraded, and its pods stay.
	stop()
	current := b.options
	b.options.Variant = simulator.VariantBefore
	stop = b.simulate(t)
	j = b.follow(t, ns)
	set := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"networkConfig": map[string]any{},
		"leaderWorkerTemplate": map[string]any{
			"size": int64(2),
			"workerTemplate": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name":  "c",
				"image": "i",
			}}}},
		},
	}}}
	set.SetGroupVersionKind(api.GroupVersion.WithKind(api.Kind))
	set.SetNamespace(ns)
	set.SetName("old")
	if err := b.client.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if _, there, _ := unstructured.NestedMap(set.Object, "spec", "networkConfig"); there {
		t.Error("an API from before KEP-173 stored a networkConfig")
	}
	j.await(t, "the old one", func(w world) bool { return w.available("old") })
	stop()
	b.options = current
	b.simulate(t)
	// The API server ends the watches of an API whose definition changes.
	j = b.follow(t, ns)
	since := j.mark()
	b.patch(t, j, ns, "old", `{"metadata":{"labels":{"edited":"yes"}}}`)
	j.await(t, "the default", func(w world) bool { return w.lws["old"].Spec.NetworkConfig != nil })
	b.patch(t, j, ns, "old", `{"spec":{"replicas":2}}`)
	j.await(t, "two replicas of the old one", func(w world) bool { return w.available("old") })
	j.replay(since, func(_ world, c change) {
		if pod, ok := c.object.(*corev1.Pod); ok && (pod.Name == "old-0" || pod.Name == "old-0-1") &&
			(c.deleted || pod.DeletionTimestamp != nil) {
			t.Errorf("pod %s was replaced", pod.Name)
		}
	})
}
