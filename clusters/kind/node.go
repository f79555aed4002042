package kind

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

// node is a node's container.
type node struct {
	engine *engine.Engine
	// name of the container, and nodeName of the Node object.
	name, nodeName string
	controlPlane   bool
	// api is how the API server of a control plane's node is reached, and that one only.
	api *apiServer
}

// sortNodes puts the control plane first, and the workers in the order in which kind made them: NAME-worker, NAME-worker2, ..., NAME-worker10.
func sortNodes(nodes []node) {
	slices.SortFunc(nodes, func(a, b node) int {
		if a.controlPlane != b.controlPlane {
			if a.controlPlane {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	})
}

// nameNodes gives sorted nodes the names of their Node objects: those of the groups, in their order, to the workers.
func nameNodes(nodes []node, groups []clusters.NodeGroup) error {
	var names []string
	for _, group := range groups {
		names = append(names, group.Names()...)
	}
	workers := 0
	for i := range nodes {
		if nodes[i].controlPlane {
			nodes[i].nodeName = nodes[i].name
			continue
		}
		if workers++; workers > len(names) {
			return fmt.Errorf("there are more than the %d workers that it was made with", len(names))
		}
		nodes[i].nodeName = names[workers-1]
	}
	if workers < len(names) {
		return fmt.Errorf("there are %d workers, of %d", workers, len(names))
	}
	return nil
}

// shell runs a script in the node and returns what it printed.
func (n node) shell(ctx context.Context, script string, args ...string) (string, error) {
	return n.engine.Shell(ctx, n.name, script, args...)
}

// read returns a file of the node, "" when it is not there.
func (n node) read(ctx context.Context, path string) (string, error) {
	var out strings.Builder
	err := n.engine.Run(ctx, engine.Streams{Out: &out}, "exec", n.name, "sh", "-euc", `if [ -e "$1" ]; then cat "$1"; fi`, "sh", path)
	if err != nil {
		return "", fmt.Errorf("read %s of node %s: %w", path, n.name, err)
	}
	return out.String(), nil
}

// write replaces a file of the node as a whole. The new one is written beside the folder of the old one: whoever watches that folder
// (kubelet does) never sees a part of it.
func (n node) write(ctx context.Context, path string, content io.Reader, mode string) error {
	const script = `mkdir -p "$(dirname "$1")"
temporary="$(dirname "$(dirname "$1")")/.rehearse-$$"
cat > "$temporary"
chmod "$2" "$temporary"
mv -f "$temporary" "$1"`
	err := n.engine.Run(ctx, engine.Streams{In: content}, "exec", "--interactive", n.name, "sh", "-euc", script, "sh", path, mode)
	if err != nil {
		return fmt.Errorf("write %s of node %s: %w", path, n.name, err)
	}
	return nil
}
