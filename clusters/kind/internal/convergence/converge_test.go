package convergence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// All API servers are upgraded before any of their clients, one stage after the other.
func TestStages(t *testing.T) {
	plane := func(name string) nodes.Node { return nodes.Node{Name: name, ControlPlane: true} }
	for _, c := range []struct {
		nodes []nodes.Node
		want  string
	}{
		{[]nodes.Node{plane("a")}, "a[kube-apiserver] a[kube-controller-manager kube-scheduler kubelet]"},
		{
			[]nodes.Node{plane("a"), plane("b"), plane("c"), {Name: "w"}},
			"a[kube-apiserver] b[kube-apiserver] c[kube-apiserver] a[kube-controller-manager kube-scheduler kubelet] " +
				"b[kube-controller-manager kube-scheduler kubelet] " +
				"c[kube-controller-manager kube-scheduler kubelet] w[kubelet]",
		},
	} {
		var got []string
		for _, s := range stages(c.nodes) {
			got = append(got, fmt.Sprintf("%s%v", s.node.Name, s.components))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("got  %s\nwant %s", text, c.want)
		}
	}
}
