package clusters

import (
	"fmt"
	"strconv"
	"strings"
)

// MostControlPlanes is how many a cluster may have: etcd advises against more than seven members.
const MostControlPlanes = 7

// PeerProxyGate lets an API server pass a request for a resource that it does not serve on to one that does (KEP-4020).
// It is on by default since 1.36, and does nothing without an authority for the others' certificates.
const PeerProxyGate = "UnknownVersionInteroperabilityProxy"

// NumberOfControlPlanes of the state's cluster. Default: 1.
func (s State) NumberOfControlPlanes() int {
	if s.ControlPlanes == 0 {
		return 1
	}
	return s.ControlPlanes
}

// CheckControlPlanes rejects numbers of control planes that no cluster should have.
func CheckControlPlanes(n int) error {
	if n < 0 || n > MostControlPlanes {
		return fmt.Errorf("a cluster cannot have %d control planes: from 1 to %d are possible", n, MostControlPlanes)
	}
	return nil
}

// CheckEtcdMembers rejects numbers of control planes that each have a member of etcd. One more than an odd number bears
// no more failures, and of two neither can be restarted without an outage: etcd wants more than half of its members.
func CheckEtcdMembers(n int) error {
	if err := CheckControlPlanes(n); err != nil {
		return err
	}
	if n > 0 && n%2 == 0 {
		return fmt.Errorf("a cluster with an etcd on each control plane cannot have %d of them: etcd wants an odd number "+
			"of members, from 1 to %d", n, MostControlPlanes)
	}
	return nil
}

// On is the component of one of several control planes, which are numbered from 0: kube-apiserver@1.
func (c Component) On(plane int) Component { return c + Component("@"+strconv.Itoa(plane)) }

// Plane is the component as a state names it, and the number of its control plane; -1 where it names none.
func (c Component) Plane() (component Component, plane int) {
	name, number, found := strings.Cut(string(c), "@")
	if !found {
		return c, -1
	}
	plane, err := strconv.Atoi(number)
	if err != nil {
		return c, -1
	}
	return Component(name), plane
}
