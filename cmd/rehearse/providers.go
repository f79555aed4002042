package main

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/providers"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// releaseFlags say where Kubernetes programs come from.
type releaseFlags struct {
	source, binDir string
}

func (f *releaseFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.source, "source", string(releases.Auto),
		"where Kubernetes programs come from: auto, download or build")
	command.Flags().StringVar(&f.binDir, "kubernetes-bin", "", "use the Kubernetes programs of this folder instead")
}

func (f *releaseFlags) setup(lasting bool, progress clusters.Progress) clusters.Setup {
	return clusters.Setup{Source: f.source, BinDir: f.binDir, Lasting: lasting, Progress: progress}
}

func (f *releaseFlags) options(progress clusters.Progress) releases.Options {
	return releases.From(f.setup(false, progress))
}

// local is the provider of commands that know no other.
func (f *releaseFlags) local(progress clusters.Progress) (*local.Provider, error) {
	return local.Default(f.options(progress), progress)
}

// providerFlags choose the provider of clusters.
type providerFlags struct {
	releaseFlags
	providers.Flags
}

func (f *providerFlags) add(command *cobra.Command) {
	f.releaseFlags.add(command)
	f.Flags.Add(command.Flags(), providers.All())
}

func (f *providerFlags) provider(lasting bool, progress clusters.Progress) (clusters.Provider, error) {
	return f.New(f.setup(lasting, progress))
}
