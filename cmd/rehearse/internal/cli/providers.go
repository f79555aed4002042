package cli

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/providers"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// ReleaseFlags say where Kubernetes programs come from.
type ReleaseFlags struct {
	Source, BinDir string
}

// AddTo adds the flags to a command.
func (f *ReleaseFlags) AddTo(command *cobra.Command) {
	command.Flags().StringVar(&f.Source, "source", string(releases.Auto),
		"where Kubernetes programs come from: auto, download or build")
	command.Flags().StringVar(&f.BinDir, "kubernetes-bin", "", "use the Kubernetes programs in this folder")
}

// Setup returns the setup of a provider.
func (f *ReleaseFlags) Setup(lasting bool, progress clusters.Progress) clusters.Setup {
	return clusters.Setup{Source: f.Source, BinDir: f.BinDir, Lasting: lasting, Progress: progress}
}

// Options returns the options of a store of releases.
func (f *ReleaseFlags) Options(progress clusters.Progress) releases.Options {
	return releases.From(f.Setup(false, progress))
}

// Local returns the provider for commands that support only this one.
func (f *ReleaseFlags) Local(progress clusters.Progress) (*local.Provider, error) {
	return local.Default(f.Options(progress), progress)
}

// ProviderFlags choose the provider of clusters.
type ProviderFlags struct {
	ReleaseFlags
	providers.Flags
}

// AddTo adds the flags to a command.
func (f *ProviderFlags) AddTo(command *cobra.Command) {
	f.ReleaseFlags.AddTo(command)
	f.Flags.Add(command.Flags(), providers.All())
}

// Provider returns the provider that the flags choose.
func (f *ProviderFlags) Provider(lasting bool, progress clusters.Progress) (clusters.Provider, error) {
	return f.New(f.Setup(lasting, progress))
}
