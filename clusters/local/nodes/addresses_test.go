package nodes

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fixture returns addresses for a cluster with two nodes; pods have the addresses taken.
func fixture(t *testing.T, taken func() (map[netip.Addr]bool, error)) *addresses {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	nodes := []*corev1.Node{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "plain"},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: "198.18.0.4"}, {Type: corev1.NodeHostName, Address: "plain"},
			}},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: "own"},
			Spec:       corev1.NodeSpec{PodCIDRs: []string{"10.9.0.0/29", "fd00::/120"}},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: "own"},
				{Type: corev1.NodeInternalIP, Address: "192.168.1.7"},
				{Type: corev1.NodeInternalIP, Address: "192.168.1.8"},
				{Type: corev1.NodeInternalIP, Address: "fd01::7"},
			}},
		},
	}
	for _, node := range nodes {
		golden.Must(t, indexer.Add(node))
	}
	return newAddresses(t.Context(), corelisters.NewNodeLister(indexer), taken)
}

func podsWith(ips ...string) map[netip.Addr]bool {
	var pods []corev1.Pod
	for _, ip := range ips {
		pods = append(pods, corev1.Pod{Status: corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: ip}}}})
	}
	return podAddresses(pods)
}

func give(t *testing.T, a *addresses, node string, hostNetwork bool) string {
	t.Helper()
	ips, err := a.podIPs(node, hostNetwork, "", "", "")
	golden.Must(t, err)
	return strings.Join(ips, " ")
}

func TestAddresses(t *testing.T) {
	none := func() (map[netip.Addr]bool, error) { return nil, nil }
	some := func() (map[netip.Addr]bool, error) {
		return podsWith("10.244.0.9", "10.244.0.2", "10.9.0.5", "192.168.1.7", "fd00::3"), nil
	}
	for _, test := range []struct {
		name, node  string
		hostNetwork bool
		taken       func() (map[netip.Addr]bool, error)
		want        []string
	}{
		{"one after the other", "plain", false, none, []string{"10.244.0.1", "10.244.0.2", "10.244.0.3"}},
		{"after the pods of before", "plain", false, some, []string{"10.244.0.10", "10.244.0.11"}},
		{"a node's own ranges", "own", false, none, []string{"10.9.0.1 fd00::1", "10.9.0.2 fd00::2"}},
		{
			"at the end of a range it begins again, without the addresses of pods", "own", false, some,
			[]string{"10.9.0.6 fd00::4", "10.9.0.1 fd00::5"},
		},
		{"host network", "own", true, some, []string{"192.168.1.7 fd01::7", "192.168.1.7 fd01::7"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := fixture(t, test.taken)
			var got []string
			for range test.want {
				got = append(got, give(t, a, test.node, test.hostNetwork))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("addresses: %q, want %q", got, test.want)
			}
		})
	}
}

// The first pods of a cluster start at the same time.
func TestAddressesAreUniqueTogether(t *testing.T) {
	a := fixture(t, func() (map[netip.Addr]bool, error) { return nil, nil })
	var all sync.WaitGroup
	var mu sync.Mutex
	given := map[string]int{}
	begin := make(chan struct{})
	for range 64 {
		all.Go(func() {
			<-begin
			ips, err := a.podIPs("plain", false, "", "", "")
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			given[ips[0]]++
		})
	}
	close(begin)
	all.Wait()
	if len(given) != 64 {
		t.Errorf("64 pods have %d addresses: %v", len(given), given)
	}
}

func TestAddressesThatCannotBeGiven(t *testing.T) {
	full := podsWith("10.9.0.1", "10.9.0.2", "10.9.0.3", "10.9.0.4", "10.9.0.5", "10.9.0.6")
	err := errors.New("no API server")
	a := fixture(t, func() (map[netip.Addr]bool, error) { return full, err })
	if _, got := a.podIPs("own", false, "", "", ""); !errors.Is(got, err) {
		t.Errorf("without a list of pods: error %v, want %v", got, err)
	}
	err = nil
	if _, got := a.podIPs("own", false, "", "", ""); got == nil || !strings.Contains(got.Error(), "all of them are in use") {
		t.Errorf("in a full range: error %v", got)
	}
	delete(full, netip.MustParseAddr("10.9.0.4"))
	if got := give(t, a, "own", false); got != "10.9.0.4 fd00::1" {
		t.Errorf("after a pod ended: %s", got)
	}
}

func TestEndedPodsHaveNoAddress(t *testing.T) {
	pods := []corev1.Pod{
		{Status: corev1.PodStatus{Phase: corev1.PodSucceeded, PodIPs: []corev1.PodIP{{IP: "10.244.0.1"}}}},
		{Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: "10.244.0.2"}}}},
	}
	if got := podAddresses(pods); len(got) != 1 || !got[netip.MustParseAddr("10.244.0.2")] {
		t.Errorf("addresses in use: %v", got)
	}
}

func TestNodesHaveAddresses(t *testing.T) {
	a := fixture(t, nil)
	for _, want := range []string{"198.18.0.5", "198.18.0.6"} {
		if got, err := a.nodeIP(); err != nil || got != want {
			t.Errorf("address of a new node: %s, %v, want %s", got, err, want)
		}
	}
	if got := a.hostIPs("plain"); !slices.Equal(got, []string{"198.18.0.4"}) {
		t.Errorf("addresses of a node: %q", got)
	}
}

// A pod may be bound to a node before the lister knows the node and its address.
func TestAddressesOfANewNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		a := newAddresses(t.Context(), corelisters.NewNodeLister(indexer), nil)
		if got := a.hostIPs("new"); !slices.Equal(got, []string{fallbackNodeIP}) {
			t.Errorf("a node that is never known: %q", got)
		}
		known := make(chan []string, 1)
		go func() { known <- a.hostIPs("new") }()
		synctest.Wait()
		if err := indexer.Add(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "new"},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: "198.18.0.1"},
			}},
		}); err != nil {
			t.Fatal(err)
		}
		if got := <-known; !slices.Equal(got, []string{"198.18.0.1"}) {
			t.Errorf("addresses of a new node: %q", got)
		}
	})
}
