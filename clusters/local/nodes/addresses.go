package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

const (
	// podRange is where pods have their addresses, unless their node has a range of its own.
	podRange = "10.244.0.0/16"
	// nodeAddress is where all nodes are.
	nodeAddress = "127.0.0.1"
)

// addresses gives each pod an address that no other pod has. kwok's own pools give the same address to the first two
// pods if these start at the same time, and they forget the running pods when this program restarts, as it does in a
// transition (kwok v0.8.0).
type addresses struct {
	nodes corelisters.NodeLister
	// taken returns the addresses of all pods.
	taken func() (map[netip.Addr]bool, error)

	mu     sync.Mutex
	ranges map[string]*addressRange
}

// addressRange gives the addresses of one range, one after the other. At its end it begins again.
type addressRange struct {
	prefix netip.Prefix
	last   netip.Addr
	// used are addresses that a pod had when the range was last begun.
	used map[netip.Addr]bool
}

func newAddresses(nodes corelisters.NodeLister, taken func() (map[netip.Addr]bool, error)) *addresses {
	return &addresses{nodes: nodes, taken: taken, ranges: map[string]*addressRange{}}
}

// startAddresses gives addresses to the pods of a cluster until the context ends. It returns when it knows the nodes.
func startAddresses(ctx context.Context, client kubernetes.Interface) *addresses {
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes().Lister()
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	return newAddresses(nodes, func() (map[netip.Addr]bool, error) {
		pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return podAddresses(pods.Items), nil
	})
}

// podIPs is kwok's template function PodIPsWith: it returns the addresses of a pod that starts.
func (a *addresses) podIPs(nodeName string, hostNetwork bool, _, _, _ string) ([]string, error) {
	node, err := a.nodes.Get(nodeName)
	if err != nil {
		node = &corev1.Node{} // it is so new that the lister does not know it yet
	}
	if hostNetwork {
		return hostIPs(node), nil
	}
	ranges := node.Spec.PodCIDRs
	if len(ranges) == 0 {
		ranges = []string{podRange}
	}
	var ips []string
	for _, text := range ranges {
		ip, err := a.next(text)
		if err != nil {
			return nil, fmt.Errorf("give a pod on node %s an address of %s: %w", nodeName, text, err)
		}
		ips = append(ips, ip.String())
	}
	return ips, nil
}

// hostIPs returns the internal addresses of a node, at most one of each family.
func hostIPs(node *corev1.Node) []string {
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
		return []string{nodeAddress}
	}
	return ips
}

func (a *addresses) next(text string) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.ranges[text]
	if !ok {
		var err error
		if r, err = a.begin(text); err != nil {
			return netip.Addr{}, err
		}
		a.ranges[text] = r
	}
	if ip, ok := r.next(); ok {
		return ip, nil
	}
	used, err := a.taken()
	if err != nil {
		return netip.Addr{}, err
	}
	r.used, r.last = used, r.prefix.Addr()
	ip, ok := r.next()
	if !ok {
		return netip.Addr{}, errors.New("pods use all addresses")
	}
	return ip, nil
}

// begin returns a range that begins after the highest address that a pod has: so that a pod whose address is not
// known yet, because the program before this one wrote it at its end, most probably keeps it for itself.
func (a *addresses) begin(text string) (*addressRange, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return nil, err
	}
	used, err := a.taken()
	if err != nil {
		return nil, err
	}
	r := &addressRange{prefix: prefix.Masked(), used: used}
	r.last = r.prefix.Addr()
	for ip := range maps.Keys(used) {
		if r.prefix.Contains(ip) && r.last.Less(ip) {
			r.last = ip
		}
	}
	return r, nil
}

// next returns the next free address, and false at the end of the range. The first and the last address of a range
// are not given.
func (r *addressRange) next() (netip.Addr, bool) {
	for {
		ip := r.last.Next()
		if !r.prefix.Contains(ip) || !r.prefix.Contains(ip.Next()) {
			return netip.Addr{}, false
		}
		r.last = ip
		if !r.used[ip] {
			return ip, true
		}
	}
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
