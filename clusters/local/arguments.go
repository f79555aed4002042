package local

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// layout has the folder and ports of a cluster.
type layout struct {
	Dir   string
	Ports listening
}

func (l layout) pki(file string) string { return filepath.Join(l.Dir, "pki", file) }
func (l layout) kubeconfig() string     { return filepath.Join(l.Dir, "kubeconfig") }
func (l layout) logs() string           { return filepath.Join(l.Dir, "logs") }
func (l layout) schedulerConfig(c clusters.Component) string {
	return filepath.Join(l.Dir, c.FileName()+".yaml")
}
func (l layout) etcdPKI(file string) string { return filepath.Join(l.Dir, "pki", "etcd", file) }
func (l layout) etcdURL() string            { return "https://" + loopback(l.Ports.Etcd) }
func (l layout) apiServerURL() string       { return "https://" + loopback(l.Ports.APIServer) }

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// flags are a component's command line by name, without the leading dashes; flags from a scenario override ours.
type flags map[string]string

// arguments renders a component's command line, sorted so that the same state always gives the same line.
func arguments(c clusters.Component, l layout, state clusters.State) []string {
	f := flags{}
	switch c.Binary() {
	case clusters.APIServer:
		f = apiServerFlags(l, c)
		if len(state.RuntimeConfig) > 0 {
			f["runtime-config"] = clusters.Pairs(state.RuntimeConfig)
		}
	case clusters.ControllerManager:
		f = controllerManagerFlags(l, c)
	case clusters.Scheduler:
		f = schedulerFlags(l, c)
	}
	component, _ := c.Plane()
	if isAPIServer(c) && peers(l, component, state) {
		f["peer-ca-file"] = l.pki("ca.crt")
	}
	if gates := state.Gates(component); len(gates) > 0 {
		f["feature-gates"] = clusters.Pairs(gates)
	}
	for name, value := range state.Flags(component) {
		f[name] = value
	}
	args := make([]string, 0, len(f))
	for _, name := range clusters.SortedKeys(f) {
		args = append(args, "--"+name+"="+f[name])
	}
	return args
}

func apiServerFlags(l layout, c clusters.Component) flags {
	f := flags{
		"etcd-servers":                     l.etcdURL(),
		"etcd-cafile":                      l.etcdPKI("ca.crt"),
		"etcd-certfile":                    l.etcdPKI("client.crt"),
		"etcd-keyfile":                     l.etcdPKI("client.key"),
		"bind-address":                     "127.0.0.1",
		"advertise-address":                "127.0.0.1",
		"secure-port":                      strconv.Itoa(l.Ports.of(c)),
		"tls-cert-file":                    l.pki("server.crt"),
		"tls-private-key-file":             l.pki("server.key"),
		"client-ca-file":                   l.pki("ca.crt"),
		"service-account-issuer":           "https://kubernetes.default.svc.cluster.local",
		"service-account-signing-key-file": l.pki("service-account.key"),
		"service-account-key-file":         l.pki("service-account.pub"),
		"service-cluster-ip-range":         serviceRange,
		"authorization-mode":               "Node,RBAC",
		"enable-admission-plugins":         "NodeRestriction",
		"allow-privileged":                 "true",
		// Aggregated API servers authenticate the front proxy with these.
		"requestheader-client-ca-file":       l.pki("front-proxy/ca.crt"),
		"requestheader-allowed-names":        "front-proxy",
		"requestheader-username-headers":     "X-Remote-User",
		"requestheader-group-headers":        "X-Remote-Group",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
		"proxy-client-cert-file":             l.pki("front-proxy/client.crt"),
		"proxy-client-key-file":              l.pki("front-proxy/client.key"),
		// The lease reconciler rejects a loopback address.
		"endpoint-reconciler-type": "none",
		// A busy machine must delete the Events of a namespace within the minute that a request may take.
		"delete-collection-workers": "20",
		// Nothing here is shared: no fairness, no limits, no periodic work on etcd.
		"enable-priority-and-fairness":            "false",
		"max-requests-inflight":                   "0",
		"max-mutating-requests-inflight":          "0",
		"etcd-compaction-interval":                "0",
		"etcd-count-metric-poll-period":           "0",
		"etcd-db-metric-poll-interval":            "0",
		"profiling":                               "false",
		"enable-aggregator-routing":               "true",
		"service-account-extend-token-expiration": "false",
	}
	if l.several() {
		f["permit-port-sharing"] = "true" // with its successor, see replace
	}
	return f
}

// unneededControllers have no effect on simulated nodes, but slow down each start.
var unneededControllers = []string{
	"horizontal-pod-autoscaler-controller", "persistentvolume-attach-detach-controller",
	"persistentvolume-expander-controller",
	"node-ipam-controller", "ttl-controller", "legacy-serviceaccount-token-cleaner-controller",
	"selinux-warning-controller",
}

func controllerManagerFlags(l layout, c clusters.Component) flags {
	controllers := []string{"*"}
	for _, name := range unneededControllers {
		controllers = append(controllers, "-"+name)
	}
	f := flags{
		"kubeconfig":                       l.kubeconfigOf(c),
		"secure-port":                      strconv.Itoa(l.Ports.of(c)),
		"controllers":                      strings.Join(controllers, ","),
		"root-ca-file":                     l.pki("ca.crt"),
		"service-account-private-key-file": l.pki("service-account.key"),
		"cluster-signing-cert-file":        l.pki("ca.crt"),
		"cluster-signing-key-file":         l.pki("ca.key"),
		"allocate-node-cidrs":              "false",
		// Simulated nodes send no heartbeats; they must not count as failed while an API server restarts.
		"node-monitor-grace-period": "24h",
		"kube-api-qps":              "1000",
		"kube-api-burst":            "2000",
	}
	return serving(f, l, c)
}

func schedulerFlags(l layout, c clusters.Component) flags {
	return serving(flags{
		"config":      l.schedulerConfig(c),
		"secure-port": strconv.Itoa(l.Ports.of(c)),
	}, l, c)
}

// serving adds the flags of a component that serves its health and metrics on loopback. Leader election is on if there
// are several of it.
func serving(f flags, l layout, c clusters.Component) flags {
	f["leader-elect"] = "false"
	if _, plane := c.Plane(); plane >= 0 {
		f["leader-elect"] = "true"
		f["leader-elect-lease-duration"] = "10s"
		f["leader-elect-renew-deadline"] = "8s"
		f["leader-elect-retry-period"] = "500ms"
	}
	f["bind-address"] = "127.0.0.1"
	f["tls-cert-file"] = l.pki("server.crt")
	f["tls-private-key-file"] = l.pki("server.key")
	f["client-ca-file"] = l.pki("ca.crt")
	f["authorization-always-allow-paths"] = "/healthz,/readyz,/livez"
	f["profiling"] = "false"
	return f
}

// serviceRange is the range of the addresses of Services. The first address is that of the API server itself.
const (
	serviceRange     = "10.96.0.0/12"
	apiServerService = "10.96.0.1"
)
