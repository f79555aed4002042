package explore

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// disposable is a disposable cluster: it stores nothing of value, and is replaced if it does not reach a state.
type disposable struct {
	*exploration
	// cluster, and the function that deletes it; nil if there is none.
	cluster *systems.Host
	delete  func()
}

func (n *disposable) remove() {
	if n.delete != nil {
		n.delete()
	}
	n.cluster, n.delete = nil, nil
}

// replace replaces the cluster with one in a state.
func (n *disposable) replace(ctx context.Context, state clusters.State) (err error) {
	n.remove()
	n.cluster, n.delete, err = n.create(ctx, state)
	return err
}

// reach brings the cluster to a state, or replaces it. It returns false if not even a new cluster starts in the state;
// the objects that cross will show why.
func (n *disposable) reach(ctx context.Context, state clusters.State) (bool, error) {
	if n.cluster != nil {
		n.Progress("taking the cluster for dry runs to %s", nameOf(state))
		err := n.cluster.Converge(ctx, state)
		if err == nil {
			return true, nil
		}
		if broken, _ := clusters.Breakage(err); len(broken) == 0 || ctx.Err() != nil {
			return false, fmt.Errorf("take the cluster for dry runs to %s: %w", nameOf(state), err)
		}
		n.Progress("the cluster for dry runs does not reach %s: creating a new one there", nameOf(state))
	}
	err := n.replace(ctx, state)
	if broken, _ := clusters.Breakage(err); len(broken) > 0 && ctx.Err() == nil {
		n.report.Untried = append(n.report.Untried, fmt.Sprintf("objects that only %s accepts: %s does not start there, "+
			"not even in a new cluster", nameOf(state), broken[0].Component))
		return false, nil
	}
	return err == nil, err
}
