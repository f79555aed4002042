package local_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/clustertest"
)

// Pods that start together, and pods that start after a transition, have addresses that no other pod has.
func TestPodsHaveAddressesOfTheirOwn(t *testing.T) {
	one := 1
	state := clusters.State{Version: "1.35", Nodes: []clusters.NodeGroup{{Count: &one}}}
	c := clustertest.Create(t, clustertest.Local(t), "addresses", state)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	start := func(count int) {
		t.Helper()
		for range count {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"},
				Spec:       corev1.PodSpec{NodeName: "node-0", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}
			if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	unique := func(count int) {
		t.Helper()
		given := map[string]string{}
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
			func(ctx context.Context) (bool, error) {
				list, err := pods.List(ctx, metav1.ListOptions{})
				if err != nil {
					return false, err
				}
				clear(given)
				for _, pod := range list.Items {
					if pod.Status.PodIP == "" {
						return false, nil
					}
					if other := given[pod.Status.PodIP]; other != "" {
						t.Errorf("the pods %s and %s have the address %s", other, pod.Name, pod.Status.PodIP)
					}
					given[pod.Status.PodIP] = pod.Name
				}
				return len(list.Items) == count, nil
			})
		if err != nil {
			t.Fatalf("wait for %d pods that run, with addresses %v: %v", count, given, err)
		}
	}
	start(4)
	unique(4)
	off := false
	next := c.State().With(clusters.Change{FeatureGates: map[string]*bool{gate: &off}})
	if err := c.Converge(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	start(4)
	unique(8)
}
