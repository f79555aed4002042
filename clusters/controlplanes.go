package clusters

import (
	"fmt"
	"strconv"
	"strings"
)

// MostControlPlanes is the maximum for a cluster: etcd advises against more than seven members.
const MostControlPlanes = 7

// PeerProxyGate lets an API server forward requests for resources that it does not serve to one that does (KEP-4020).
// It is on by default since 1.36, but has no effect without an authority for the others' certificates.
const PeerProxyGate = "UnknownVersionInteroperabilityProxy"

// NumberOfControlPlanes of the state's cluster. Default: 1.
func (s State) NumberOfControlPlanes() int {
	if s.ControlPlanes == 0 {
		return 1
	}
	return s.ControlPlanes
}

// CheckControlPlanes rejects numbers of control planes that no cluster can have.
func CheckControlPlanes(n int) error {
	if n < 0 || n > MostControlPlanes {
		return fmt.Errorf("a cluster cannot have %d control planes: from 1 to %d are possible", n, MostControlPlanes)
	}
	return nil
}

// CheckEtcdMembers rejects numbers of control planes if each has an etcd member. Even numbers tolerate no more
// failures than one less, and of two, neither can restart without an outage: etcd needs more than half.
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

// On returns the component on one of several control planes, which are numbered from 0: kube-apiserver@1.
func (c Component) On(plane int) Component { return c + Component("@"+strconv.Itoa(plane)) }

// Plane returns the component without the number of its control plane, and that number; -1 if there is none.
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
