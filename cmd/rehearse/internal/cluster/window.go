package cluster

import (
	"context"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

const upToUsage = "stop as soon as that many control planes are in the state, and say how to reach each API server " +
	"(default: all of them)"

// convergeUpTo brings a cluster to a state, up to a number of control planes; 0 is all of them. Where it stops before
// the last it says how to reach each API server.
func convergeUpTo(ctx context.Context, out io.Writer, cluster clusters.Cluster, state clusters.State, upTo int) error {
	if upTo == 0 {
		return cli.Broken(cluster.Converge(ctx, state))
	}
	rolling, able := cluster.(clusters.Rolling)
	planes := state.NumberOfControlPlanes()
	if !able || upTo < 0 || upTo >= planes {
		return fmt.Errorf("--up-to %d: cluster %s has %d control planes that can be changed one by one", upTo, cluster.Name(),
			planes)
	}
	if err := rolling.ConvergeUpTo(ctx, state, upTo); err != nil {
		return cli.Broken(err)
	}
	for _, server := range rolling.Servers() {
		fmt.Fprintf(out, "%s: %s\n", server, server.Kubeconfig)
	}
	return nil
}
