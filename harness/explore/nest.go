package explore

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// nest is a cluster in which nothing is stored that could be lost: it is made anew where it does not come to a state.
type nest struct {
	*exploration
	// cluster and what deletes it; nil where there is none.
	cluster *systems.Host
	delete  func()
}

func (n *nest) remove() {
	if n.delete != nil {
		n.delete()
	}
	n.cluster, n.delete = nil, nil
}

// anew makes the cluster in a state.
func (n *nest) anew(ctx context.Context, state clusters.State) (err error) {
	n.remove()
	n.cluster, n.delete, err = n.create(ctx, state)
	return err
}

// come brings the cluster to a state; false where none comes up in it, which those that cross will show.
func (n *nest) come(ctx context.Context, state clusters.State) (bool, error) {
	if n.cluster != nil {
		n.Progress("taking the nursery to %s", nameOf(state))
		err := n.cluster.Converge(ctx, state)
		if err == nil {
			return true, nil
		}
		if broken, _ := clusters.Breakage(err); len(broken) == 0 || ctx.Err() != nil {
			return false, fmt.Errorf("take the nursery to %s: %w", nameOf(state), err)
		}
		n.Progress("the nursery does not come to %s: making another one there", nameOf(state))
	}
	err := n.anew(ctx, state)
	if broken, _ := clusters.Breakage(err); len(broken) > 0 && ctx.Err() == nil {
		n.report.Untried = append(n.report.Untried, fmt.Sprintf("the objects that only %s accepts: %s does not come up "+
			"there in a new cluster", nameOf(state), broken[0].Component))
		return false, nil
	}
	return err == nil, err
}
