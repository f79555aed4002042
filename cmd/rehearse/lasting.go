package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
)

// lastingFlags choose a provider of clusters that outlive the command.
type lastingFlags struct {
	releaseFlags
	name       string
	nodeImages []string
}

func (f *lastingFlags) add(command *cobra.Command) {
	f.releaseFlags.add(command)
	command.Flags().StringVar(&f.name, "provider", "local", "where the cluster comes from: local or kind")
	command.Flags().StringArrayVar(&f.nodeImages, "node-image", nil, nodeImageUsage)
}

func (f *lastingFlags) provider(progress clusters.Progress) (clusters.LastingProvider, error) {
	if f.name != "kind" && len(f.nodeImages) > 0 {
		return nil, errors.New("--node-image is for --provider kind")
	}
	switch f.name {
	case "local":
		return f.local(true, progress)
	case "kind":
		return f.kind(f.nodeImages, true, progress)
	}
	return nil, fmt.Errorf("--provider %q: want local or kind", f.name)
}

// lastingProviders are all whose clusters outlive a command.
func lastingProviders(flags lastingFlags, progress clusters.Progress) ([]clusters.LastingProvider, error) {
	var all []clusters.LastingProvider
	for _, name := range []string{"local", "kind"} {
		flags.name = name
		if name != "kind" {
			flags.nodeImages = nil
		}
		provider, err := flags.provider(progress)
		if err != nil {
			return nil, err
		}
		all = append(all, provider)
	}
	return all, nil
}

// owner finds whose cluster has a name. Where both providers have one, only --provider tells which is meant.
func owner(command *cobra.Command, flags lastingFlags, name string, progress clusters.Progress) (clusters.LastingProvider, error) {
	if command.Flags().Changed("provider") {
		return flags.provider(progress)
	}
	all, err := lastingProviders(flags, progress)
	if err != nil {
		return nil, err
	}
	var owners []clusters.LastingProvider
	for _, provider := range all {
		names, err := provider.Names()
		if err != nil {
			return nil, broken(err)
		}
		if slices.Contains(names, name) {
			owners = append(owners, provider)
		}
	}
	switch len(owners) {
	case 0:
		return nil, fmt.Errorf("cluster %q: %w; rehearse cluster list shows those that there are", name, clusters.ErrNotFound)
	case 1:
		return owners[0], nil
	}
	return nil, fmt.Errorf("there is a local cluster %q and a kind cluster %q: say which is meant with --provider", name, name)
}

// open takes the cluster of a name.
func open(ctx context.Context, command *cobra.Command, flags lastingFlags, name string, progress clusters.Progress) (clusters.LastingProvider, clusters.LastingCluster, error) {
	provider, err := owner(command, flags, name, progress)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := provider.Open(ctx, name)
	return provider, cluster, err
}
