package kind

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// node is a node's container.
type node struct {
	engine       *engine.Engine
	name         string
	controlPlane bool
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
	const script = `temporary="$(dirname "$(dirname "$1")")/.rehearse-$$"
cat > "$temporary"
chmod "$2" "$temporary"
mv -f "$temporary" "$1"`
	err := n.engine.Run(ctx, engine.Streams{In: content}, "exec", "--interactive", n.name, "sh", "-euc", script, "sh", path, mode)
	if err != nil {
		return fmt.Errorf("write %s of node %s: %w", path, n.name, err)
	}
	return nil
}
