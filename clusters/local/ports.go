package local

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
)

// listening are a cluster's listening ports on 127.0.0.1.
type listening struct {
	Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, DNS, DNSReady int
	// Schedulers are those of further kube-schedulers. The map is never changed, only replaced.
	Schedulers map[clusters.Component]int `json:",omitempty"`
}

// reservePorts picks free ports and locks them.
func reservePorts() (listening, *ports.Reservation, error) {
	held, err := ports.Reserve("127.0.0.1", 7)
	if err != nil {
		return listening{}, &ports.Reservation{}, err
	}
	n := held.Numbers
	return listening{
		Etcd: n[0], EtcdPeer: n[1], APIServer: n[2], ControllerManager: n[3], Scheduler: n[4], DNS: n[5],
		DNSReady: n[6],
	}, held, nil
}
