package diagnosis

import (
	"context"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// kubeletScript prints how often systemd started kubelet again since it was started by us, and what kubelet said
// since then.
const kubeletScript = `systemctl show kubelet --property NRestarts --value
journalctl _COMM=kubelet ${1:+"--after-cursor=$1"} --lines 200 --output cat --no-pager`

// KubeletFailure says why kubelet does not start, nil when it does or that is not to be seen yet: it was started
// again more often than is forgiven, and said why, or was started again three times.
func KubeletFailure(ctx context.Context, n nodes.Node, cursor string, forgiven int) error {
	out, err := n.Shell(ctx, kubeletScript, cursor)
	if err != nil {
		return nil // not to be seen now
	}
	first, rest, _ := strings.Cut(out, "\n")
	restarts, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || restarts <= forgiven || restarts < 3 && !hasFatal(rest) {
		return nil
	}
	return DoesNotStart(clusters.Kubelet, rest)
}
