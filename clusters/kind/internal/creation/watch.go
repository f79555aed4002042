package creation

import (
	"context"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// kubeadmPatience is more ends of a component than there can be until kubeadm itself gives up.
const kubeadmPatience = 100

// watchCreation ends a creation in which a component does not start: kubeadm itself would wait for minutes. Further
// control planes are given what the first was given.
func (c *Creator) watchCreation(ctx context.Context, abort context.CancelCauseFunc) {
	n := nodes.Node{Engine: c.Engine, Name: c.Record.Name() + "-control-plane", ControlPlane: true}
	for look := 1; ; look++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		if look%5 == 0 {
			if err := diagnosis.DiskFull(ctx, n); err != nil {
				abort(err)
				return
			}
		}
		// Each look is a program that runs in the node, which costs more than the look.
		starts, err := diagnosis.StartsOf(ctx, n, clusters.ControlPlane()...)
		if err != nil {
			continue // the node is not there yet
		}
		for _, component := range clusters.ControlPlane() {
			// Nobody can tell yet whether the API server is only slow.
			forgiven, excused := 1, kubeadmPatience
			if component == clusters.APIServer {
				forgiven, excused = 0, 0
			}
			if err := starts.Of(component).Failure(component, nil, forgiven, excused); err != nil {
				abort(err)
				return
			}
		}
		if len(starts) > 0 {
			continue // which kubelet has started
		}
		if err := diagnosis.KubeletFailure(ctx, n, "", 2); err != nil { // kubeadm would wait for it for four minutes
			abort(err)
			return
		}
	}
}
