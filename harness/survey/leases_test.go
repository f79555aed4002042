package survey

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func leaseObject(name, holder string, renewed time.Time, seconds int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": name, "namespace": "system", "uid": name},
		"spec": map[string]any{
			"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": renewed.Format(metav1.RFC3339Micro),
		},
	}}
}

func TestHeldLeases(t *testing.T) {
	now := time.Now()
	var all []lease
	for _, o := range []*unstructured.Unstructured{
		leaseObject("live", "a", now.Add(-5*time.Second), 15),
		leaseObject("released", "", now, 1),
		leaseObject("expired", "a", now.Add(-time.Minute), 15),
		leaseObject("in the future", "a", now.Add(time.Hour), 15),
	} {
		all = append(all, leaseOf(o))
	}
	if got := held(all, now); len(got) != 1 || got[0].name != "system/live" {
		t.Errorf("got %v", got)
	}
}

func TestLeasesOfLeaders(t *testing.T) {
	for _, test := range []struct {
		namespace, name string
		identity        bool
		want            bool
	}{
		{"kube-system", "kube-controller-manager", false, true},
		{"operator", "my-operator", false, true},
		{"kube-node-lease", "node-0", false, false},
		{"kube-system", "apiserver-abc", true, false},
		{"kube-system", "leader-election-controller", false, false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetNamespace(test.namespace)
		o.SetName(test.name)
		if test.identity {
			o.SetLabels(map[string]string{"apiserver.kubernetes.io/identity": "kube-apiserver"})
		}
		if got := ofLeader(o); got != test.want {
			t.Errorf("%s/%s is the lease of a leader: %t", test.namespace, test.name, got)
		}
	}
}

// The wait ends when a new holder has renewed the lease. It does not end when the old holder releases it, or when
// another lease is renewed.
func TestAwaitLeaders(t *testing.T) {
	now := time.Now()
	lists := [][]*unstructured.Unstructured{
		{leaseObject("manager", "old", now, 15), leaseObject("other", "x", now, 15)},
		{leaseObject("manager", "", now.Add(time.Second), 15), leaseObject("other", "x", now.Add(time.Second), 15)},
		{leaseObject("manager", "new", now.Add(2*time.Second), 15), leaseObject("other", "x", now, 15)},
		{leaseObject("manager", "new", now.Add(3*time.Second), 15)},
	}
	asked := 0
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{
			{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}: "LeaseList",
		})
	client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{
			"apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList",
		}}
		for _, o := range lists[asked] {
			list.Items = append(list.Items, *o)
		}
		asked++
		return true, list, nil
	})
	s := &Survey{client: client}
	since := Mark{leases: []lease{leaseOf(lists[0][0])}}
	if err := awaitLeaders(t.Context(), s.leases, since); err != nil || asked != 3 {
		t.Errorf("%v after %d lists; want 3", err, asked)
	}
	asked = 0
	if err := awaitLeaders(t.Context(), s.leases, Mark{}); err != nil || asked != 0 {
		t.Errorf("%v after %d lists; want none if no lease was held", err, asked)
	}
}
