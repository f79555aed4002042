package clusters

import "github.com/spf13/pflag"

// Definition is a provider as the command line knows it: a line of providers.All.
type Definition struct {
	// Name that --provider takes.
	Name string
	// Clusters are what its clusters are, in a few words for the help.
	Clusters string
	// Abilities that its clusters have, or can have.
	Abilities []Ability
	// Lasting says that its clusters can outlive the process that made them: Flags' function makes a LastingProvider.
	Lasting bool
	// Flags defines the provider's own flags, and returns what makes the provider of their values.
	Flags func(flags *pflag.FlagSet) func(Setup) (Provider, error)
}

// Setup is what every provider is made with.
type Setup struct {
	// Source of Kubernetes programs (releases.Source), BinDir a folder that has them already.
	Source, BinDir string
	// CacheDir keeps programs and clusters between runs. Default: the user's cache directory.
	CacheDir string
	// Lasting clusters outlive this process.
	Lasting bool
	// Progress hears what long work is at; it may be nil.
	Progress Progress
}
