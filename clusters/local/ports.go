package local

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// listening are a cluster's listening ports on 127.0.0.1.
type listening struct {
	// APIServer is the port in the kubeconfig: the balancer's if there are several control planes.
	Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, DNS, DNSReady int
	// Schedulers are the ports of additional kube-schedulers. The map is never changed, only replaced.
	Schedulers map[clusters.Component]int `json:",omitempty"`
	// Planes are the ports of several control planes; empty if there is only one.
	Planes []planePorts `json:",omitempty"`
}

// planePorts are the ports of one of several control planes.
type planePorts struct{ APIServer, ControllerManager, Scheduler int }

// reservePorts picks free ports for a number of control planes and locks them.
func reservePorts(planes int) (listening, *ports.Reservation, error) {
	const shared, each = 7, 3
	count := shared
	if planes > 1 {
		count += each * planes
	}
	held, err := ports.Reserve("127.0.0.1", count)
	if err != nil {
		return listening{}, &ports.Reservation{}, err
	}
	n := held.Numbers
	l := listening{
		Etcd: n[0], EtcdPeer: n[1], APIServer: n[2], ControllerManager: n[3], Scheduler: n[4], DNS: n[5],
		DNSReady: n[6],
	}
	for at := shared; at < count; at += each {
		l.Planes = append(l.Planes, planePorts{APIServer: n[at], ControllerManager: n[at+1], Scheduler: n[at+2]})
	}
	return l, held, nil
}

// of is the port of a component; 0 if it has none.
func (l listening) of(c clusters.Component) int {
	component, plane := c.Plane()
	p := planePorts{l.APIServer, l.ControllerManager, l.Scheduler}
	switch {
	case plane >= len(l.Planes):
		return 0
	case plane >= 0:
		p = l.Planes[plane]
	}
	switch component {
	case clusters.APIServer:
		return p.APIServer
	case clusters.ControllerManager:
		return p.ControllerManager
	case clusters.Scheduler:
		return p.Scheduler
	}
	return l.Schedulers[c]
}
