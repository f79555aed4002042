package clusters

import "fmt"

// MostControlPlanes is how many a cluster may have: etcd advises against more than seven members.
const MostControlPlanes = 7

// NumberOfControlPlanes of the state's cluster. Default: 1.
func (s State) NumberOfControlPlanes() int {
	if s.ControlPlanes == 0 {
		return 1
	}
	return s.ControlPlanes
}

// CheckControlPlanes refuses numbers of control planes that no cluster should have. One more than an odd number bears
// no more failures, and of two neither can be restarted without an outage: etcd wants more than half of its members.
func CheckControlPlanes(n int) error {
	if n < 0 || n > MostControlPlanes || n > 0 && n%2 == 0 {
		return fmt.Errorf("a cluster cannot have %d control planes: etcd wants an odd number of members, from 1 to %d", n,
			MostControlPlanes)
	}
	return nil
}

// CheckOneControlPlane refuses several, for clusters of a kind that has one.
func (s State) CheckOneControlPlane(what string) error {
	if n := s.NumberOfControlPlanes(); n > 1 {
		return fmt.Errorf("%s has one control plane, not %d; clusters of provider kind can have several", what, n)
	}
	return nil
}
