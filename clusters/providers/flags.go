package providers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Flags are --provider, and the flags of each provider.
type Flags struct {
	name  string
	known []entry
}

// entry is a provider with its own flags.
type entry struct {
	definition clusters.Definition
	flags      *pflag.FlagSet
	make       func(clusters.Setup) (clusters.Provider, error)
}

// Add defines the flags for a choice of providers. The first one is the default.
func (f *Flags) Add(flags *pflag.FlagSet, choice []clusters.Definition) {
	for _, d := range choice {
		own := pflag.NewFlagSet(d.Name, pflag.ContinueOnError)
		f.known = append(f.known, entry{d, own, d.Flags(own)})
		flags.AddFlagSet(own)
	}
	var each []string
	for _, e := range f.known {
		each = append(each, e.definition.Name+" ("+e.definition.Clusters+")")
	}
	flags.StringVar(&f.name, "provider", choice[0].Name, "provider of the clusters: "+sentence(each, "or"))
}

// New makes the chosen provider.
func (f *Flags) New(s clusters.Setup) (clusters.Provider, error) {
	chosen := slices.IndexFunc(f.known, func(e entry) bool { return e.definition.Name == f.name })
	if chosen < 0 {
		return nil, fmt.Errorf("--provider %q: want %s", f.name, sentence(f.names(), "or"))
	}
	for i, e := range f.known {
		if set := e.set(); i != chosen && len(set) > 0 {
			return nil, fmt.Errorf("%s: only with --provider %s", sentence(set, "and"), e.definition.Name)
		}
	}
	return f.known[chosen].make(s)
}

// Each makes all providers.
func (f *Flags) Each(s clusters.Setup) ([]clusters.Provider, error) {
	var all []clusters.Provider
	for _, e := range f.known {
		p, err := e.make(s)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (f *Flags) names() []string {
	var names []string
	for _, e := range f.known {
		names = append(names, e.definition.Name)
	}
	return names
}

// set returns the provider's own flags that the user set.
func (e entry) set() []string {
	var names []string
	e.flags.VisitAll(func(flag *pflag.Flag) { // the command parses the flags, so Visit of this set visits none
		if flag.Changed {
			names = append(names, "--"+flag.Name)
		}
	})
	return names
}

// sentence joins words: "a, b or c".
func sentence(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
