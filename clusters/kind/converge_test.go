package kind

import (
	"fmt"
	"strings"
	"testing"
)

// Every API server goes up before anything that may ask it, and one thing after the other.
func TestStages(t *testing.T) {
	plane := func(name string) node { return node{name: name, controlPlane: true} }
	for _, c := range []struct {
		nodes []node
		want  string
	}{
		{[]node{plane("a")}, "a[kube-apiserver] a[kube-controller-manager kube-scheduler kubelet]"},
		{
			[]node{plane("a"), plane("b"), plane("c"), {name: "w"}},
			"a[kube-apiserver] b[kube-apiserver] c[kube-apiserver] a[kube-controller-manager kube-scheduler kubelet] b[kube-controller-manager kube-scheduler kubelet] " +
				"c[kube-controller-manager kube-scheduler kubelet] w[kubelet]",
		},
	} {
		var got []string
		for _, s := range stages(c.nodes) {
			got = append(got, fmt.Sprintf("%s%v", s.node.name, s.components))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("got  %s\nwant %s", text, c.want)
		}
	}
}
