package diagnosis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// diskScript prints how many megabytes are free for what a node writes; the disk is the engine's.
const diskScript = `df --block-size=1M --output=avail /var | tail -n 1`

// fewMegabytes is too little for a control plane to start: etcd alone begins with a file of 64 MB.
const fewMegabytes = 64

// DiskFull returns an error if a node's disk is full. Its components then fail to start, or end, each with a
// different reason. It returns nil if the free space is unknown.
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
