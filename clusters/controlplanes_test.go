package clusters

import (
	"strings"
	"testing"
)

func TestControlPlanes(t *testing.T) {
	for n, refused := range map[int]bool{
		-1: true, 0: false, 1: false, 2: true, 3: false, 4: true, 5: false, 7: false,
		8: true, 9: true,
	} {
		if err := CheckControlPlanes(n); (err != nil) != refused {
			t.Errorf("%d: %v", n, err)
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
		err := state.CheckOneControlPlane("a local cluster")
		if n < 2 && err != nil || n == 3 &&
			(err == nil ||
				!strings.Contains(err.Error(), "a local cluster has one control plane, not 3; clusters of provider kind")) {
			t.Errorf("%d: %v", n, err)
		}
		if after := state.With(Change{Version: "1.36"}); after.ControlPlanes != n {
			t.Errorf("after a transition there are %d, not %d", after.ControlPlanes, n)
		}
	}
}
