package local

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
)

// planes is the number of control planes.
func (l layout) planes() int { return max(1, len(l.Ports.Planes)) }

// several reports whether there is more than one control plane.
func (l layout) several() bool { return len(l.Ports.Planes) > 1 }

// instance is the name of a component on a control plane. With one control plane, it is the component's own name.
func (l layout) instance(c clusters.Component, plane int) clusters.Component {
	if !l.several() {
		return c
	}
	return c.On(plane)
}

// instances are the names of a component's processes: one on each control plane, but only one for an additional
// kube-scheduler.
func (l layout) instances(c clusters.Component) []clusters.Component {
	if !l.several() || !slices.Contains(clusters.ControlPlane(), c) {
		return []clusters.Component{c}
	}
	var all []clusters.Component
	for plane := range l.planes() {
		all = append(all, c.On(plane))
	}
	return all
}

// apiServerOf is the API server that a component uses: the one on its own control plane, as with kubeadm.
func (l layout) apiServerOf(c clusters.Component) clusters.Component {
	if _, plane := c.Plane(); plane >= 0 {
		return clusters.APIServer.On(plane)
	}
	return l.instance(clusters.APIServer, 0)
}

// lacksAPIServer reports whether the API server on the component's control plane does not run, because it was killed.
// For a component that belongs to no control plane, it reports whether any API server does not run.
func lacksAPIServer(c *programs, component clusters.Component) bool {
	servers := c.layout.instances(clusters.APIServer)
	if _, plane := component.Plane(); plane >= 0 {
		servers = []clusters.Component{c.layout.apiServerOf(component)}
	}
	return slices.ContainsFunc(servers, func(server clusters.Component) bool { return c.process(string(server)) == nil })
}

// onPlane lists the components of a control plane in a state, in the order in which an upgrade starts them. There is
// only one process of an additional kube-scheduler, which may talk to any API server. It changes together with the last
// control plane: an upgrade changes that one last, a rollback first. So it is never newer than an API server.
func (l layout) onPlane(state clusters.State, plane int) []clusters.Component {
	var all []clusters.Component
	for _, component := range state.ControlPlane() {
		switch {
		case slices.Contains(clusters.ControlPlane(), component):
			all = append(all, l.instance(component, plane))
		case plane == l.planes()-1:
			all = append(all, component)
		}
	}
	return all
}

// isAPIServer reports whether a component is an API server, on any control plane.
func isAPIServer(c clusters.Component) bool { return c.Binary() == clusters.APIServer }

// components lists all components except etcd that can be queried, killed and restarted, in the order in which an
// upgrade starts them.
func (c *programs) components() []clusters.Component {
	var all []clusters.Component
	for _, component := range clusters.ControlPlane() {
		all = append(all, c.layout.instances(component)...)
	}
	return append(all, clusters.SortedKeys(c.ports().Schedulers)...)
}

// Servers returns the API servers that are running.
func (c *Cluster) Servers() []clusters.Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []clusters.Server
	for plane, instance := range c.layout.instances(clusters.APIServer) {
		if c.running[string(instance)] == nil {
			continue
		}
		config := c.RESTConfig()
		config.Host = "https://" + loopback(c.record.Ports.of(instance))
		all = append(all, clusters.Server{
			Plane: plane, Version: c.record.Processes[string(instance)].Version,
			Behind: slices.Contains(c.record.Behind, plane), REST: config, Kubeconfig: c.layout.kubeconfigOf(instance),
		})
	}
	return all
}

// kubeconfigOf is the path of the kubeconfig with which a component reaches the API server on its control plane.
func (l layout) kubeconfigOf(c clusters.Component) string {
	_, plane := c.Plane()
	if plane < 0 {
		return l.kubeconfig()
	}
	return l.kubeconfig() + "-" + clusters.APIServer.On(plane).FileName()
}

// writeKubeconfigs writes the administrator's kubeconfig. If there are several control planes, it also writes one for
// each.
func writeKubeconfigs(l layout) error {
	err := writeKubeconfig(l, l.kubeconfig(), l.apiServerURL())
	for plane := range l.Ports.Planes {
		server := clusters.APIServer.On(plane)
		err = errors.Join(err, writeKubeconfig(l, l.kubeconfigOf(server), "https://"+loopback(l.Ports.of(server))))
	}
	return err
}

// writeConfig writes the configuration file of a component, if it has one.
func (c *roller) writeConfig(w want) error {
	if w.Config == "" {
		return nil
	}
	return os.WriteFile(c.layout.schedulerConfig(w.component), []byte(w.Config), 0o600)
}

// hostnameOf is the hostname that a component sees; "" for the real one. API servers use the hostname to find one
// another.
func hostnameOf(c clusters.Component) string {
	if _, plane := c.Plane(); plane >= 0 && isAPIServer(c) {
		return fmt.Sprintf("control-plane-%d", plane)
	}
	return ""
}

// peers reports whether API servers forward requests to one another. They do if there are several of them and the state
// enables the gate explicitly. The gate is on by default, but it has no effect without a flag that few clusters set.
func peers(l layout, c clusters.Component, state clusters.State) bool {
	return l.several() && state.Gates(c)[clusters.PeerProxyGate]
}

// namesHosts reports whether each API server can have its own hostname on this machine. They need it to find one
// another.
func (p *Provider) namesHosts() bool { return p.spawner.NamesHosts(component.OnHost(p.Executable)) }

// checkPeers returns an error if API servers would not find one another. They would not report that themselves.
func (p *Provider) checkPeers(state clusters.State) error {
	if state.NumberOfControlPlanes() == 1 || !state.Gates(clusters.APIServer)[clusters.PeerProxyGate] || p.namesHosts() {
		return nil
	}
	return &clusters.LacksError{Ability: clusters.AbilityPeerProxy, Err: fmt.Errorf("feature gate %s: on this machine "+
		"API servers cannot have their own hostnames (UTS namespaces), so they would not find one another",
		clusters.PeerProxyGate)}
}
