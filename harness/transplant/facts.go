package transplant

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/rehearse-dev/rehearse/harness/storage"
)

// facts are what a control plane must know of its data before it starts.
type facts struct {
	objects int
	// ranges are those of the addresses of Services, as the ServiceCIDR kubernetes has them.
	ranges []string
	// first is the address of the API server's own Service, addresses are those of all.
	first     netip.Addr
	addresses []netip.Addr
	// nodePorts are the lowest and the highest that a Service has.
	nodePorts [2]int64
	// nodes that there are, and those that Pods are on.
	nodes, hosts map[string]bool
	// newest is the newest version that a kubelet has, or kubeadm installed.
	newest *utilversion.Version
}

// folders of keys that somebody must look at.
const (
	services     = "services/specs/"
	serviceCIDRs = "servicecidrs/"
	nodes        = "minions/"
	pods         = "pods/"
	configMaps   = "configmaps/"
	apiServices  = storage.Aggregation + "/apiservices/"
)

// scan reads all data once.
func scan(data Data) (*facts, error) {
	f := &facts{nodes: map[string]bool{}, hosts: map[string]bool{}}
	return f, data.Each(func(e Entry) error {
		f.objects++
		folder, rest := split(e.Key)
		var take func(*unstructured.Unstructured)
		switch folder {
		case services:
			take = f.service
		case serviceCIDRs:
			if rest == "kubernetes" {
				take = func(o *unstructured.Unstructured) {
					f.ranges, _, _ = unstructured.NestedStringSlice(o.Object, "spec", "cidrs")
				}
			}
		case nodes:
			take = f.node
		case configMaps:
			if rest == "kube-system/kubeadm-config" {
				take = f.kubeadm
			}
		case pods:
			take = func(o *unstructured.Unstructured) {
				if host, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName"); host != "" {
					f.hosts[host] = true
				}
			}
		}
		if take == nil {
			return nil
		}
		if o, err := e.Object(); err == nil { // what cannot be read here is reported where it is put into etcd
			take(o)
		}
		return nil
	})
}

// split takes a key apart: the folder with its slash, and what is behind it.
func split(key string) (folder, rest string) {
	key = strings.TrimPrefix(key, storage.Prefix)
	for _, two := range []string{services, "services/endpoints/"} {
		if rest, ok := strings.CutPrefix(key, two); ok {
			return two, rest
		}
	}
	folder, rest, _ = strings.Cut(key, "/")
	if folder == storage.Extensions || folder == storage.Aggregation {
		second, after, _ := strings.Cut(rest, "/")
		return folder + "/" + second + "/", after
	}
	return folder + "/", rest
}

func (f *facts) service(o *unstructured.Unstructured) {
	ips, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "clusterIPs")
	for _, ip := range ips {
		address, err := netip.ParseAddr(ip)
		if err != nil {
			continue // None, or an address as only old versions took it
		}
		f.addresses = append(f.addresses, address)
		if o.GetNamespace() == "default" && o.GetName() == "kubernetes" && !f.first.IsValid() {
			f.first = address
		}
	}
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	for _, port := range ports {
		fields, _ := port.(map[string]any)
		f.nodePort(fields["nodePort"])
	}
	if check, ok, _ := unstructured.NestedInt64(o.Object, "spec", "healthCheckNodePort"); ok {
		f.nodePort(check)
	}
}

func (f *facts) nodePort(value any) {
	port, _ := value.(int64)
	if port == 0 {
		return
	}
	if f.nodePorts[0] == 0 || port < f.nodePorts[0] {
		f.nodePorts[0] = port
	}
	f.nodePorts[1] = max(f.nodePorts[1], port)
}

func (f *facts) node(o *unstructured.Unstructured) {
	f.nodes[o.GetName()] = true
	words, _, _ := unstructured.NestedString(o.Object, "status", "nodeInfo", "kubeletVersion")
	f.version(words)
}

// version takes in one that the API server's is not older than.
func (f *facts) version(words string) {
	version, err := utilversion.ParseSemantic(words)
	if err == nil && (f.newest == nil || f.newest.LessThan(version)) {
		f.newest = version
	}
}

// installed by kubeadm, as it says in its ConfigMap.
var installed = regexp.MustCompile(`(?m)^kubernetesVersion: (\S+)$`)

func (f *facts) kubeadm(o *unstructured.Unstructured) {
	text, _, _ := unstructured.NestedString(o.Object, "data", "ClusterConfiguration")
	if match := installed.FindStringSubmatch(text); match != nil {
		f.version(match[1])
	}
}

// serviceRange is the API server's --service-cluster-ip-range; "" where the data has no address of a Service.
func (f *facts) serviceRange() (string, error) {
	if len(f.ranges) > 0 {
		return strings.Join(f.ranges, ","), nil
	}
	if !f.first.IsValid() {
		return "", nil
	}
	// The API server's own Service has the first address of the range, which holds all others of its family.
	for bits := f.first.BitLen() - 1; bits >= f.first.BitLen()-maxRangeBits; bits-- {
		prefix, err := f.first.Prefix(bits)
		if err != nil {
			return "", err
		}
		if prefix.Addr().Next() == f.first && bits <= f.first.BitLen()-minRangeBits && !slices.ContainsFunc(f.addresses,
			func(a netip.Addr) bool {
				return a.BitLen() == f.first.BitLen() && !prefix.Contains(a)
			}) {
			return prefix.String(), nil
		}
	}
	return "", fmt.Errorf("no range of addresses begins at that of Service default/kubernetes (%s) and holds those of "+
		"all Services; name it with --service-cluster-ip-range", f.first)
}

// The sizes of a range: 256 addresses at least, as they are usual, and a million at most, which is what an API server
// takes.
const (
	minRangeBits = 8
	maxRangeBits = 20
)

// The range of node ports that an API server has by default.
const (
	lowestNodePort  = 30000
	highestNodePort = 32767
)

// nodePortRange is the API server's --service-node-port-range; "" for its default.
func (f *facts) nodePortRange() string {
	low, high := f.nodePorts[0], f.nodePorts[1]
	if high == 0 || low >= lowestNodePort && high <= highestNodePort {
		return ""
	}
	return fmt.Sprintf("%d-%d", min(low, lowestNodePort), max(high, highestNodePort))
}

// homeless are the nodes that Pods are on, and that are not in the data.
func (f *facts) homeless() []string {
	var names []string
	for name := range f.hosts {
		if !f.nodes[name] {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}
