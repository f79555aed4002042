package clusters_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCheckNodes(t *testing.T) {
	none, negative := 0, -1
	golden.Must(t, clusters.CheckNodes([]clusters.NodeGroup{{Count: &none}, {Name: "big"}}))
	for want, group := range map[string]clusters.NodeGroup{
		"nodes: count -1: want 0 or more": {Count: &negative},
		`nodes: capacity cpu: "many"`:     {Capacity: map[string]string{"cpu": "many"}},
	} {
		golden.Error(t, clusters.CheckNodes([]clusters.NodeGroup{group}), want)
	}
	golden.Error(t, clusters.CheckNodes([]clusters.NodeGroup{{}, {}}), `two groups are named "node"`)
}
