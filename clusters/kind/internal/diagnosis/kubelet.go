package diagnosis

import (
	"context"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// kubeletScript prints how often systemd has restarted kubelet since we started it, and what kubelet has logged since
// then.
const kubeletScript = `systemctl show kubelet --property NRestarts --value
journalctl _COMM=kubelet ${1:+"--after-cursor=$1"} --lines 200 --output cat --no-pager`

// KubeletFailure returns why kubelet does not start; nil if it does, or if that is not known yet. Kubelet has failed
// if it was restarted more often than forgiven and logged a fatal error, or was restarted three times.
func KubeletFailure(ctx context.Context, n nodes.Node, cursor string, forgiven int) error {
	out, err := n.Shell(ctx, kubeletScript, cursor)
	if err != nil {
		return nil // unknown for now
	}
	first, rest, _ := strings.Cut(out, "\n")
	restarts, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || restarts <= forgiven || restarts < 3 && !hasFatal(rest) {
		return nil
	}
	return DoesNotStart(clusters.Kubelet, rest)
}
