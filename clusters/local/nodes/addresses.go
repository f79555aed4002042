package nodes

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

const (
	// podRange is where pods have their addresses, unless their node has a range of its own.
	podRange = "10.244.0.0/16"
	// nodeRange is where nodes have their addresses: a range for tests (RFC 2544), with nothing behind it. Endpoints may
	// not be loopback addresses, and pods in the network of their node are endpoints with its address.
	nodeRange = "198.18.0.0/15"
	// fallbackNodeIP is used for a node that has no address.
	fallbackNodeIP = "127.0.0.1"
	// knownWithin is how much later than kwok's controllers the lister may know a node.
	knownWithin = 5 * time.Second
)

// addresses gives each pod and each node an address that no other one has. kwok's own pools give the same address to
// the first two pods if these start at the same time, and they forget the running pods when this program restarts, as
// it does in a transition (kwok v0.8.0).
type addresses struct {
	ctx   context.Context
	nodes corelisters.NodeLister
	// ofPods returns the addresses of all pods.
	ofPods func() (map[netip.Addr]bool, error)

	mu     sync.Mutex
	ranges map[string]*addressRange
}

func newAddresses(ctx context.Context, nodes corelisters.NodeLister,
	ofPods func() (map[netip.Addr]bool, error),
) *addresses {
	return &addresses{ctx: ctx, nodes: nodes, ofPods: ofPods, ranges: map[string]*addressRange{}}
}

// startAddresses gives addresses to the pods of a cluster until the context ends. It returns when it knows the nodes.
func startAddresses(ctx context.Context, client kubernetes.Interface) *addresses {
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes().Lister()
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	return newAddresses(ctx, nodes, func() (map[netip.Addr]bool, error) {
		var pods *corev1.PodList
		err := wait.PollUntilContextCancel(ctx, retryEvery, true, func(ctx context.Context) (bool, error) {
			var err error
			pods, err = client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
			return err == nil, nil // kwok would drop the pod that waits for its address
		})
		if err != nil {
			return nil, err
		}
		return podAddresses(pods.Items), nil
	})
}

// functions are kwok's template functions for addresses.
func (a *addresses) functions() gotpl.FuncMap {
	return gotpl.FuncMap{"NodeIP": a.nodeIP, "NodeIPsWith": a.hostIPs, "PodIPsWith": a.podIPs}
}

// nodeIP returns the address of a node that has none yet.
func (a *addresses) nodeIP() (string, error) {
	ip, err := a.next(nodeRange, a.ofNodes)
	if err != nil {
		return "", fmt.Errorf("give a node an address of %s: %w", nodeRange, err)
	}
	return ip.String(), nil
}

// hostIPs returns the internal addresses of a node, at most one of each family.
func (a *addresses) hostIPs(nodeName string) []string { return internalIPs(a.node(nodeName)) }

// podIPs returns the addresses of a pod that starts.
func (a *addresses) podIPs(nodeName string, hostNetwork bool, _, _, _ string) ([]string, error) {
	node := a.node(nodeName)
	if hostNetwork {
		return internalIPs(node), nil
	}
	ranges := node.Spec.PodCIDRs
	if len(ranges) == 0 {
		ranges = []string{podRange}
	}
	var ips []string
	for _, text := range ranges {
		ip, err := a.next(text, a.ofPods)
		if err != nil {
			return nil, fmt.Errorf("give a pod on node %s an address of %s: %w", nodeName, text, err)
		}
		ips = append(ips, ip.String())
	}
	return ips, nil
}

// node returns a node, once it is known with an address.
func (a *addresses) node(name string) *corev1.Node {
	node := &corev1.Node{}
	_ = wait.PollUntilContextTimeout(a.ctx, 20*time.Millisecond, knownWithin, true,
		func(context.Context) (bool, error) {
			known, err := a.nodes.Get(name)
			if err != nil {
				return false, nil //nolint:nilerr // the lister is late
			}
			node = known
			return len(known.Status.Addresses) > 0, nil
		}) // it may have no address at all
	return node
}

func internalIPs(node *corev1.Node) []string {
	byFamily := map[bool]string{}
	var ips []string
	for _, address := range node.Status.Addresses {
		ip, err := netip.ParseAddr(address.Address)
		if err != nil || address.Type != corev1.NodeInternalIP || byFamily[ip.Is4()] != "" {
			continue
		}
		byFamily[ip.Is4()] = ip.String()
		ips = append(ips, ip.String())
	}
	if len(ips) == 0 {
		return []string{fallbackNodeIP}
	}
	return ips
}

// ofNodes returns the addresses of all nodes.
func (a *addresses) ofNodes() (map[netip.Addr]bool, error) {
	nodes, err := a.nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	used := map[netip.Addr]bool{}
	for _, node := range nodes {
		for _, address := range node.Status.Addresses {
			if ip, err := netip.ParseAddr(address.Address); err == nil {
				used[ip] = true
			}
		}
	}
	return used, nil
}

// next returns an address of the range that is not in use, and was not given before.
func (a *addresses) next(text string, taken func() (map[netip.Addr]bool, error)) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.ranges[text]
	if !ok {
		var err error
		if r, err = begin(text, taken); err != nil {
			return netip.Addr{}, err
		}
		a.ranges[text] = r
	}
	if ip, ok := r.next(); ok {
		return ip, nil
	}
	used, err := taken()
	if err != nil {
		return netip.Addr{}, err
	}
	r.used, r.last = used, r.prefix.Addr()
	ip, ok := r.next()
	if !ok {
		return netip.Addr{}, errors.New("all of them are in use")
	}
	return ip, nil
}

// podAddresses returns the addresses of pods that have not ended.
func podAddresses(pods []corev1.Pod) map[netip.Addr]bool {
	used := map[netip.Addr]bool{}
	for i := range pods {
		if phase := pods[i].Status.Phase; phase == corev1.PodSucceeded || phase == corev1.PodFailed {
			continue
		}
		for _, address := range pods[i].Status.PodIPs {
			if ip, err := netip.ParseAddr(address.IP); err == nil {
				used[ip] = true
			}
		}
	}
	return used
}
