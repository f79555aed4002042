package local_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Pods that start together, and pods that start after a transition, have addresses that no other pod has.
func TestPodsHaveAddressesOfTheirOwn(t *testing.T) {
	one := 1
	state := clusters.State{Version: "1.35", Nodes: []clusters.NodeGroup{{Count: &one}}}
	c := clustertest.Create(t, clustertest.Local(t), "addresses", state)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	startPods(t, client, 4, corev1.PodSpec{NodeName: "node-0"})
	uniqueAddresses(t, client, 4)
	off := false
	next := c.State().With(clusters.Change{FeatureGates: map[string]*bool{gate: &off}})
	golden.Must(t, c.Converge(t.Context(), next))
	startPods(t, client, 4, corev1.PodSpec{NodeName: "node-0"})
	uniqueAddresses(t, client, 8)
}

// Pods in the network of their node are endpoints, with its address.
func TestHostNetworkPodsAreEndpoints(t *testing.T) {
	one := 1
	state := clusters.State{Version: "1.35", Nodes: []clusters.NodeGroup{{Count: &one}}}
	c := clustertest.Create(t, clustertest.Local(t), "hostnetwork", state)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "agents"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "agent"}, Ports: []corev1.ServicePort{{Port: 80}},
		},
	}
	if _, err := client.CoreV1().Services(metav1.NamespaceDefault).Create(t.Context(), service,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	startPods(t, client, 1, corev1.PodSpec{NodeName: "node-0", HostNetwork: true})
	var addresses []string
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			slices, err := client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).List(ctx,
				metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=agents"})
			if err != nil {
				return false, err
			}
			addresses = nil
			for _, slice := range slices.Items {
				for _, endpoint := range slice.Endpoints {
					addresses = append(addresses, endpoint.Addresses...)
				}
			}
			return len(addresses) > 0, nil
		})
	if err != nil || len(addresses) != 1 || !strings.HasPrefix(addresses[0], "198.18.0.") {
		t.Errorf("endpoints: %v, error %v; want one of 198.18.0.0/24", addresses, err)
	}
}

// The DNS server and the node simulation restart with the API server, since their watches would come back late.
func TestClientsAreRenewedWithTheAPIServer(t *testing.T) {
	one := 1
	state := clusters.State{Version: "1.35", Nodes: []clusters.NodeGroup{{Count: &one}}}
	c := clustertest.Create(t, clustertest.Local(t), "clients", state)
	if _, err := c.DNS(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := c.PIDs()
	golden.Must(t, c.Restart(t.Context(), clusters.APIServer))
	after := c.PIDs()
	for _, name := range []string{"dns", "nodes"} {
		if before[name] == 0 || after[name] == 0 || before[name] == after[name] {
			t.Errorf("process %s: %d before, %d after the restart of the API server", name, before[name], after[name])
		}
	}
}

// startPods creates pods with the label app: agent.
func startPods(t *testing.T, client kubernetes.Interface, count int, spec corev1.PodSpec) {
	t.Helper()
	spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	for range count {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Labels: map[string]string{"app": "agent"}}, Spec: spec,
		}
		if _, err := client.CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), pod,
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// uniqueAddresses waits until so many pods have an address, and compares these.
func uniqueAddresses(t *testing.T, client kubernetes.Interface, count int) {
	t.Helper()
	given := map[string]string{}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			list, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
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
