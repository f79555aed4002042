package local

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
)

// peerProxyGate lets an API server pass a request for a resource that it does not serve on to one that does (KEP-4020).
// It is on by default since 1.36, and does nothing without an authority for the others' certificates.
const peerProxyGate = "UnknownVersionInteroperabilityProxy"

// peers says whether API servers are to pass requests on to one another: where a state has several of them, and asks
// for the gate by name. That it is on by default means nothing without a flag that few clusters have.
func peers(l layout, c clusters.Component, state clusters.State) bool {
	return l.several() && state.Gates(c)[peerProxyGate]
}

// namesHosts says whether API servers can have hostnames of their own on this machine. By them they find one another.
func (p *Provider) namesHosts() bool { return p.spawner.NamesHosts(component.OnHost(p.Executable)) }

// checkPeers refuses API servers that would silently find none of the others.
func (p *Provider) checkPeers(state clusters.State) error {
	if state.NumberOfControlPlanes() == 1 || !state.Gates(clusters.APIServer)[peerProxyGate] || p.namesHosts() {
		return nil
	}
	return fmt.Errorf("feature gate %s: this machine does not let each API server have a hostname of its own (UTS "+
		"namespaces), so that they would not find one another (with needs: [%s] the scenario is skipped here)",
		peerProxyGate, clusters.AbilityPeerProxy)
}
