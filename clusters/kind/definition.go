package kind

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Definition returns the provider's definition for the command line.
func Definition() clusters.Definition {
	return clusters.Definition{
		Name: "kind", Clusters: "nodes in containers, by kind", Abilities: abilities(), Lasting: true, Flags: fromFlags,
	}
}

func fromFlags(flags *pflag.FlagSet) func(clusters.Setup) (clusters.Provider, error) {
	nodeImages := flags.StringArray("node-image", nil, "kind: the node image of a version (1.36=NAME), of every version "+
		"(example.com/node:v{version}), or the load balancer of several control planes (load-balancer=NAME)")
	return func(s clusters.Setup) (clusters.Provider, error) {
		images, err := images.Parse(*nodeImages)
		if err != nil {
			return nil, err
		}
		p, err := Default(releases.From(s), images, s.Progress)
		if err != nil {
			return nil, err
		}
		p.Lasting = s.Lasting
		return p, nil
	}
}

// abilities returns the abilities that kind clusters can have. AbilityPodImage also depends on the node image.
func abilities() []clusters.Ability {
	return clusters.AbilitiesOf((*Cluster)(nil), clusters.AbilityPodImage, clusters.AbilityBreakages,
		clusters.AbilityControlPlanes)
}

// Has reports whether a cluster in a state has an ability. AbilityPodImage depends on the node image.
func (p *Provider) Has(ctx context.Context, ability clusters.Ability, state clusters.State) (bool, error) {
	if ability != clusters.AbilityPodImage {
		return slices.Contains(abilities(), ability), nil
	}
	state, err := p.Resolve(ctx, state)
	if err != nil {
		return false, err
	}
	v, err := clusters.ParseVersion(state.Version)
	if err != nil {
		return false, err
	}
	e, err := p.engine(ctx)
	if err != nil {
		return false, err
	}
	return p.Images.HavePodImage(ctx, e, v)
}
