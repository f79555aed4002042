package diagnosis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// diskScript prints how many megabytes a node has for all that it writes: they are the engine's.
const diskScript = `df --block-size=1M --output=avail /var | tail -n 1`

// fewMegabytes are not enough for a control plane to start: etcd alone begins with a file of 64.
const fewMegabytes = 64

// DiskFull is an error where a node has no room left, in which components do not start, or end, each with another
// reason. That it cannot be seen is none.
func DiskFull(ctx context.Context, n nodes.Node) error {
	out, err := n.Shell(ctx, diskScript)
	if err != nil {
		return nil
	}
	left, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || left >= fewMegabytes {
		return nil
	}
	return fmt.Errorf("the disk is full: the container engine has %d MB left for node %s", left, n.Name)
}
