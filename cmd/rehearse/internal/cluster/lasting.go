package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/providers"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// lastingFlags choose a provider of clusters that outlive the command.
type lastingFlags struct {
	cli.ReleaseFlags
	providers.Flags
}

func (f *lastingFlags) add(command *cobra.Command) {
	f.ReleaseFlags.AddTo(command)
	f.Flags.Add(command.Flags(), providers.Lasting())
}

func (f *lastingFlags) provider(progress clusters.Progress) (clusters.LastingProvider, error) {
	provider, err := f.New(f.Setup(true, progress))
	if err != nil {
		return nil, err
	}
	return asLasting(provider)
}

// each returns all providers whose clusters outlive a command.
func (f *lastingFlags) each(progress clusters.Progress) ([]clusters.LastingProvider, error) {
	all, err := f.Each(f.Setup(true, progress))
	if err != nil {
		return nil, err
	}
	var lasting []clusters.LastingProvider
	for _, provider := range all {
		p, err := asLasting(provider)
		if err != nil {
			return nil, err
		}
		lasting = append(lasting, p)
	}
	return lasting, nil
}

func asLasting(provider clusters.Provider) (clusters.LastingProvider, error) {
	lasting, ok := provider.(clusters.LastingProvider)
	if !ok {
		return nil, fmt.Errorf("provider %s: its clusters do not outlive the command, though its definition says so",
			provider.Name())
	}
	return lasting, nil
}

// owner finds the provider whose cluster has the name. If several providers have one, --provider is required.
func owner(command *cobra.Command, flags lastingFlags, name string,
	progress clusters.Progress,
) (clusters.LastingProvider, error) {
	if command.Flags().Changed("provider") {
		return flags.provider(progress)
	}
	all, err := flags.each(progress)
	if err != nil {
		return nil, err
	}
	var owners []clusters.LastingProvider
	var names []string
	for _, provider := range all {
		own, err := provider.Names()
		if err != nil {
			return nil, cli.Broken(err)
		}
		if slices.Contains(own, name) {
			owners, names = append(owners, provider), append(names, provider.Name())
		}
	}
	switch len(owners) {
	case 0:
		return nil, fmt.Errorf("cluster %q: %w; see rehearse cluster list", name, clusters.ErrNotFound)
	case 1:
		return owners[0], nil
	}
	return nil, fmt.Errorf("providers %s each have a cluster %q: choose with --provider", strings.Join(names, " and "),
		name)
}

// open opens the cluster with the name.
func open(ctx context.Context, command *cobra.Command, flags lastingFlags, name string,
	progress clusters.Progress,
) (clusters.LastingProvider, clusters.LastingCluster, error) {
	provider, err := owner(command, flags, name, progress)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := provider.Open(ctx, name)
	return provider, cluster, err
}
