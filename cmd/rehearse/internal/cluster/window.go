package cluster

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// rollFlags say in which order a transition changes control planes, and where it stops.
type rollFlags struct {
	upTo  int
	order string
}

func (f *rollFlags) addTo(command *cobra.Command) {
	command.Flags().IntVar(&f.upTo, "up-to", 0, "stop when that many control planes (with --order: components) are "+
		"in the new state, and print how to reach each API server (default: all)")
	command.Flags().StringVar(&f.order, "order", "", "apiServersFirst: all API servers, then all controller managers, "+
		"then all schedulers (default: one control plane after the other)")
}

// converge brings a cluster to a state. If it stops in between, it prints how to reach each API server.
func (f *rollFlags) converge(ctx context.Context, out io.Writer, cluster clusters.Cluster, state clusters.State) error {
	if f.order != "" && f.order != scenarios.APIServersFirst {
		return fmt.Errorf("--order %s: want %s, or nothing", f.order, scenarios.APIServersFirst)
	}
	roll := clusters.Roll{APIServersFirst: f.order != "", UpTo: f.upTo}
	if roll == (clusters.Roll{}) {
		return cli.Broken(cluster.Converge(ctx, state))
	}
	rolling, able := cluster.(clusters.Rolling)
	most := roll.Most(state.NumberOfControlPlanes())
	switch {
	case !able:
		return fmt.Errorf("--up-to and --order: cluster %s cannot %s", cluster.Name(), clusters.AbilityMixedVersions.Text())
	case f.upTo < 0 || f.upTo >= most:
		return fmt.Errorf("--up-to %d: want at least 1 and less than %d, the number of steps of this change of cluster %s",
			f.upTo, most, cluster.Name())
	}
	if err := rolling.Roll(ctx, state, roll); err != nil || f.upTo == 0 {
		return cli.Broken(err)
	}
	for _, server := range rolling.Servers() {
		fmt.Fprintf(out, "%s: %s\n", server, server.Kubeconfig)
	}
	return nil
}
