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

// several says whether there is more than one control plane.
func (l layout) several() bool { return len(l.Ports.Planes) > 1 }

// instance is the component that runs on a control plane.
func (l layout) instance(c clusters.Component, plane int) clusters.Component {
	if !l.several() {
		return c
	}
	return c.On(plane)
}

// instances are the processes that a component is: one on each control plane, and one of a further kube-scheduler.
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

// apiServerOf is the API server that a component talks to: that of its own control plane, as kubeadm does it.
func (l layout) apiServerOf(c clusters.Component) clusters.Component {
	if _, plane := c.Plane(); plane >= 0 {
		return clusters.APIServer.On(plane)
	}
	return l.instance(clusters.APIServer, 0)
}

// lacksAPIServer says whether the API server of a component's control plane is to stay down, as one that was killed;
// of what is on no control plane, whether one of them is.
func lacksAPIServer(c *programs, component clusters.Component) bool {
	servers := c.layout.instances(clusters.APIServer)
	if _, plane := component.Plane(); plane >= 0 {
		servers = []clusters.Component{c.layout.apiServerOf(component)}
	}
	return slices.ContainsFunc(servers, func(server clusters.Component) bool { return c.process(string(server)) == nil })
}

// onPlane lists what a control plane runs in a state, in the order in which an upgrade starts it. Further
// kube-schedulers are single, and change with the first control plane.
func (l layout) onPlane(state clusters.State, plane int) []clusters.Component {
	var all []clusters.Component
	for _, component := range state.ControlPlane() {
		switch {
		case slices.Contains(clusters.ControlPlane(), component):
			all = append(all, l.instance(component, plane))
		case plane == 0:
			all = append(all, component)
		}
	}
	return all
}

// isAPIServer says whether a component is an API server, on whatever control plane.
func isAPIServer(c clusters.Component) bool { return c.Binary() == clusters.APIServer }

// components lists what can be asked, killed and restarted besides etcd, in the order in which an upgrade starts it.
func (c *programs) components() []clusters.Component {
	var all []clusters.Component
	for _, component := range clusters.ControlPlane() {
		all = append(all, c.layout.instances(component)...)
	}
	return append(all, clusters.SortedKeys(c.ports().Schedulers)...)
}

// Servers are the API servers that run.
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

// kubeconfigOf is the kubeconfig with which a component reaches the API server of its control plane.
func (l layout) kubeconfigOf(c clusters.Component) string {
	_, plane := c.Plane()
	if plane < 0 {
		return l.kubeconfig()
	}
	return l.kubeconfig() + "-" + clusters.APIServer.On(plane).FileName()
}

// writeKubeconfigs writes the administrator's kubeconfig, and one for each of several control planes.
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

// hostnameOf is the name of the machine that a component sees, "" for the real one. An API server is known to others by
// it, and to its peers.
func hostnameOf(c clusters.Component) string {
	if _, plane := c.Plane(); plane >= 0 && isAPIServer(c) {
		return fmt.Sprintf("control-plane-%d", plane)
	}
	return ""
}

// peers says whether API servers are to pass requests on to one another: where a state has several of them, and asks
// for the gate by name. That it is on by default means nothing without a flag that few clusters have.
func peers(l layout, c clusters.Component, state clusters.State) bool {
	return l.several() && state.Gates(c)[clusters.PeerProxyGate]
}

// namesHosts says whether API servers can have hostnames of their own on this machine. By them they find one another.
func (p *Provider) namesHosts() bool { return p.spawner.NamesHosts(component.OnHost(p.Executable)) }

// checkPeers refuses API servers that would silently find none of the others.
func (p *Provider) checkPeers(state clusters.State) error {
	if state.NumberOfControlPlanes() == 1 || !state.Gates(clusters.APIServer)[clusters.PeerProxyGate] || p.namesHosts() {
		return nil
	}
	return fmt.Errorf("feature gate %s: this machine does not let each API server have a hostname of its own (UTS "+
		"namespaces), so that they would not find one another (with needs: [%s] the scenario is skipped here)",
		clusters.PeerProxyGate, clusters.AbilityPeerProxy)
}
