package clusters

import (
	"testing"
)

func TestControlPlanes(t *testing.T) {
	for n, want := range map[int]struct{ etcd, oneEtcd bool }{
		-1: {}, 0: {true, true}, 1: {true, true}, 2: {false, true}, 3: {true, true}, 4: {false, true}, 7: {true, true},
		8: {}, 9: {},
	} {
		if err := CheckControlPlanes(n); (err == nil) != want.oneEtcd {
			t.Errorf("%d: %v", n, err)
		}
		if err := CheckEtcdMembers(n); (err == nil) != want.etcd {
			t.Errorf("%d, each with an etcd: %v", n, err)
		}
	}
	for n, want := range map[int]string{0: "1.35.4", 1: "1.35.4", 3: "1.35.4 controlPlanes=3 nodes=1"} {
		state := State{Version: "1.35.4", ControlPlanes: n}
		if n == 3 {
			state.Nodes = []NodeGroup{{}}
		}
		if got := state.String(); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
		if after := state.With(Change{Version: "1.36"}); after.ControlPlanes != n {
			t.Errorf("after a transition there are %d, not %d", after.ControlPlanes, n)
		}
	}
}

func TestPlane(t *testing.T) {
	for name, want := range map[Component]struct {
		component, binary Component
		plane             int
	}{
		"kube-apiserver":         {"kube-apiserver", "kube-apiserver", -1},
		APIServer.On(0):          {"kube-apiserver", "kube-apiserver", 0},
		"kube-apiserver@2":       {"kube-apiserver", "kube-apiserver", 2},
		"kube-scheduler/batch":   {"kube-scheduler/batch", "kube-scheduler", -1},
		"kube-scheduler/batch@1": {"kube-scheduler/batch", "kube-scheduler", 1},
		"etcd@x":                 {"etcd@x", "etcd@x", -1},
	} {
		component, plane := name.Plane()
		if component != want.component || plane != want.plane || name.Binary() != want.binary {
			t.Errorf("%s: %s, %d, binary %s", name, component, plane, name.Binary())
		}
	}
}
