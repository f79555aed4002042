package creation

import (
	"context"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// kubeadmPatience is more ends of a component than are possible before kubeadm itself times out.
const kubeadmPatience = 100

// watchCreation ends a creation in which a component does not start: kubeadm itself would wait for minutes. It
// watches only the first control plane, because the others have the same settings.
func (c *Creator) watchCreation(ctx context.Context, abort context.CancelCauseFunc) {
	n := nodes.Node{Engine: c.Engine, Name: c.Record.Name() + "-control-plane", ControlPlane: true}
	for look := 1; pauses.For(ctx, 2*time.Second); look++ {
		if look%5 == 0 {
			if err := diagnosis.DiskFull(ctx, n); err != nil {
				abort(err)
				return
			}
		}
		// Each check runs a program in the node, which costs more than the check itself.
		starts, err := diagnosis.StartsOf(ctx, n, clusters.ControlPlane()...)
		if err != nil {
			continue // the node does not exist yet
		}
		for _, component := range clusters.ControlPlane() {
			// It is still unknown whether the API server is only slow, so the ends of other components are excused.
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
			continue // kubelet has started them
		}
		if err := diagnosis.KubeletFailure(ctx, n, "", 2); err != nil { // kubeadm would wait for it for four minutes
			abort(err)
			return
		}
	}
}
