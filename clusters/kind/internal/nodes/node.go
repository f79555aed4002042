// Package nodes finds and removes a cluster's containers, and runs scripts in them.
package nodes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// Node is a node's container.
type Node struct {
	Engine *engine.Engine
	// Name is the name of the container, and NodeName that of the Node object.
	Name, NodeName string
	ControlPlane   bool
}

// Sort puts the control planes first, and the workers in the order in which kind made them: NAME-worker,
// NAME-worker2, ..., NAME-worker10.
func Sort(nodes []Node) {
	slices.SortFunc(nodes, func(a, b Node) int {
		if a.ControlPlane != b.ControlPlane {
			if a.ControlPlane {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
}

// SetNames sets the Node object names of sorted nodes. Workers get the names of the groups, in their order.
func SetNames(nodes []Node, groups []clusters.NodeGroup) error {
	var names []string
	for _, group := range groups {
		names = append(names, group.Names()...)
	}
	workers := 0
	for i := range nodes {
		if nodes[i].ControlPlane {
			nodes[i].NodeName = nodes[i].Name
			continue
		}
		if workers++; workers > len(names) {
			return fmt.Errorf("there are more than the %d workers that it was made with", len(names))
		}
		nodes[i].NodeName = names[workers-1]
	}
	if workers < len(names) {
		return fmt.Errorf("there are %d workers, of %d", workers, len(names))
	}
	return nil
}

// Shell runs a script in the node and returns what it printed.
func (n Node) Shell(ctx context.Context, script string, args ...string) (string, error) {
	return n.Engine.Shell(ctx, n.Name, script, args...)
}

// Read returns a file of the node; "" if it does not exist.
func (n Node) Read(ctx context.Context, path string) (string, error) {
	var out strings.Builder
	err := n.Engine.Run(ctx, engine.Streams{Out: &out}, "exec", n.Name, "sh", "-euc", `if [ -e "$1" ]; then cat "$1"; fi`,
		"sh", path)
	if err != nil {
		return "", fmt.Errorf("read %s of node %s: %w", path, n.Name, err)
	}
	return out.String(), nil
}

// Write replaces a file of the node atomically. It writes the new file next to the folder of the old one, so that a
// program that watches that folder (such as kubelet) never sees a partial file.
func (n Node) Write(ctx context.Context, path string, content io.Reader, mode string) error {
	const script = `mkdir -p "$(dirname "$1")"
temporary="$(dirname "$(dirname "$1")")/.rehearse-$$"
cat > "$temporary"
chmod "$2" "$temporary"
mv -f "$temporary" "$1"`
	err := n.Engine.Run(ctx, engine.Streams{In: content}, "exec", "--interactive", n.Name, "sh", "-euc", script, "sh",
		path, mode)
	if err != nil {
		return fmt.Errorf("write %s of node %s: %w", path, n.Name, err)
	}
	return nil
}
