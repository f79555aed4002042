package local

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Definition is the provider for the command line.
func Definition() clusters.Definition {
	return clusters.Definition{
		Name: "local", Clusters: "control planes of processes on this machine", Abilities: abilities(), Lasting: true,
		Flags: func(*pflag.FlagSet) func(clusters.Setup) (clusters.Provider, error) {
			return func(s clusters.Setup) (clusters.Provider, error) {
				p, err := Default(releases.From(s), s.Progress)
				if err != nil {
					return nil, err
				}
				p.Lasting = s.Lasting
				return p, nil
			}
		},
	}
}

// abilities of local clusters. Simulated nodes accept any image.
func abilities() []clusters.Ability {
	return clusters.AbilitiesOf((*Cluster)(nil), clusters.AbilitySimulatedNodes, clusters.AbilityPodImage,
		clusters.AbilitySchedulers, clusters.AbilityOneEtcd, clusters.AbilityBreakages, clusters.AbilityControlPlanes,
		clusters.AbilityOwnVersions, clusters.AbilityEmulation, clusters.AbilityWebhookCalls, clusters.AbilityPeerProxy)
}

// Has reports whether local clusters have an ability. Whether API servers can find one another depends on the machine.
func (p *Provider) Has(_ context.Context, ability clusters.Ability, _ clusters.State) (bool, error) {
	return slices.Contains(abilities(), ability) && (ability != clusters.AbilityPeerProxy || p.namesHosts()), nil
}
