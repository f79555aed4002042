package clusters

import "github.com/spf13/pflag"

// Definition describes a provider for the command line: an entry of providers.All.
type Definition struct {
	// Name that --provider takes.
	Name string
	// Clusters describes its clusters in a few words for the help.
	Clusters string
	// Abilities that its clusters have or can have.
	Abilities []Ability
	// Lasting: its clusters can outlive the process that created them, and Flags' function makes a LastingProvider.
	Lasting bool
	// Flags defines the provider's own flags, and returns the function that makes the provider from their values.
	Flags func(flags *pflag.FlagSet) func(Setup) (Provider, error)
}

// Setup is the input for every provider.
type Setup struct {
	// Source of Kubernetes programs (releases.Source), or BinDir, a folder that already contains them.
	Source, BinDir string
	// CacheDir keeps programs and clusters between runs. Default: the user's cache directory.
	CacheDir string
	// Lasting clusters outlive this process.
	Lasting bool
	// Progress receives progress messages. Optional.
	Progress Progress
}
