package existing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Definition is the provider for the command line.
func Definition() clusters.Definition {
	return clusters.Definition{
		Name: "existing", Clusters: "an existing cluster, by its kubeconfig", Abilities: abilities(),
		Flags: fromFlags,
	}
}

func fromFlags(flags *pflag.FlagSet) func(clusters.Setup) (clusters.Provider, error) {
	var o Options
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "",
		"existing cluster: its kubeconfig (default: KUBECONFIG or ~/.kube/config)")
	flags.StringVar(&o.Context, "context", "", "existing cluster: the context in the kubeconfig")
	command := flags.String("transition-command", "", "existing cluster: the program that performs a transition, "+
		"and its arguments, with spaces between them; its environment has KUBECONFIG, REHEARSE_VERSION, "+
		"REHEARSE_FEATURE_GATES and REHEARSE_STATE")
	flags.DurationVar(&o.TransitionTimeout, "transition-timeout", 0, "existing cluster: timeout for the new state "+
		"after the transition command has exited (default: 5m, but 1m if nothing changes)")
	flags.StringVar(&o.HostAddress, "host-address", "", "existing cluster: the address at which its API server can "+
		"reach this machine, for systems that run as processes here")
	return func(clusters.Setup) (clusters.Provider, error) {
		if o.TransitionTimeout < 0 {
			return nil, fmt.Errorf("--transition-timeout %s: want a positive duration, such as 10m", o.TransitionTimeout)
		}
		o.TransitionCommand = strings.Fields(*command)
		return New(o)
	}
}

func abilities() []clusters.Ability { return clusters.AbilitiesOf((*Cluster)(nil)) }

// Has reports whether an existing cluster has an ability.
func (p *Provider) Has(_ context.Context, ability clusters.Ability, _ clusters.State) (bool, error) {
	return slices.Contains(abilities(), ability), nil
}
