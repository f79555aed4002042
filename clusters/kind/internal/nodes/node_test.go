package nodes

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func two() *int { n := 2; return &n }

func TestNodesAreNamedInTheirOrder(t *testing.T) {
	var nodes []Node
	for _, name := range []string{
		"worker10", "worker", "worker3", "worker2", "control-plane", "worker4", "worker5",
		"worker6", "worker7", "worker8", "worker9",
	} {
		nodes = append(nodes, Node{Name: "c-" + name, ControlPlane: name == "control-plane"})
	}
	eight := 8
	groups := []clusters.NodeGroup{{Count: &eight}, {Name: "big", Count: two()}}
	Sort(nodes)
	golden.Must(t, SetNames(nodes, groups))
	for name, want := range map[string]string{
		"c-control-plane": "c-control-plane", "c-worker": "node-0",
		"c-worker2": "node-1", "c-worker8": "node-7", "c-worker9": "big-0", "c-worker10": "big-1",
	} {
		for _, n := range nodes {
			if n.Name == name && n.NodeName != want {
				t.Errorf("the node of %s is %s, want %s", name, n.NodeName, want)
			}
		}
	}
	golden.Error(t, SetNames(nodes[:3], groups), "there are 2 workers, of 10")
	golden.Error(t, SetNames(nodes, groups[:1]), "more than the 8 workers")
}
