package transplant

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// facts are what must be known about the data before a control plane starts with it.
type facts struct {
	objects int
	// unread are the objects that cannot be read, or that the copy cannot have because they are encrypted.
	unread int
	// conversions are the conversion webhooks of custom resources, by the resource (orders.example.com).
	conversions map[string]conversion
	// ranges are the address ranges of Services in ServiceCIDR kubernetes.
	ranges []string
	// first is the address of Service default/kubernetes. addresses are those of all Services, of both IP families.
	first     netip.Addr
	addresses []netip.Addr
	// nodePorts are the lowest and the highest node port of all Services.
	nodePorts [2]int64
	// nodes are the nodes in the data. hosts are the nodes that Pods run on.
	nodes, hosts map[string]bool
	// owners are the workloads that may own others. ownersUnknown: some could not be read.
	owners        owners
	ownersUnknown bool
	// newest is the newest of the kubelets' versions and the version that kubeadm installed.
	newest *clusters.Version
}

// The folders of keys that need special treatment.
const (
	services     = "services/specs/"
	serviceCIDRs = "servicecidrs/"
	nodes        = "minions/"
	pods         = "pods/"
	configMaps   = "configmaps/"
	apiServices  = storage.Aggregation + "/apiservices/"
	definitions  = storage.Extensions + "/customresourcedefinitions/"
)

// scan reads all data once, to find the facts.
func scan(data Data) (*facts, error) {
	f := &facts{conversions: map[string]conversion{}, nodes: map[string]bool{}, hosts: map[string]bool{}, owners: owners{}}
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
		case definitions:
			take = f.definition
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
		o, err := e.Object()
		if err == nil {
			f.owners.add(folder, o)
		} else if slices.Contains(owning, folder) {
			f.ownersUnknown = true // an encrypted one may own others
		}
		switch lost := leftOut(e) != "" || err != nil && e.Encrypted == ""; {
		case lost && foreign(folder, rest) == "":
			f.unread++
		case err == nil && take != nil: // a value that cannot be decoded adds no facts
			take(o)
		}
		return nil
	})
}

// split splits a key into its folder, with the trailing slash, and the rest.
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
			continue // None, or an address that only old versions accepted
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

// version records a version if it is the newest so far. The API server must not be older.
func (f *facts) version(words string) {
	version, err := clusters.ParseRelease(words)
	if err == nil && (f.newest == nil || f.newest.Compare(version) < 0) {
		f.newest = &version
	}
}

// installed matches the version that kubeadm installed, in its ConfigMap.
var installed = regexp.MustCompile(`(?m)^kubernetesVersion: (\S+)$`)

func (f *facts) kubeadm(o *unstructured.Unstructured) {
	text, _, _ := unstructured.NestedString(o.Object, "data", "ClusterConfiguration")
	if match := installed.FindStringSubmatch(text); match != nil {
		f.version(match[1])
	}
}

// The API server's default range of node ports.
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

// homeless returns the nodes that Pods run on but the data lacks.
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
