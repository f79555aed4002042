package simulator

import (
	"fmt"

	"github.com/cenkalti/backoff/v4"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/backends"
)

// initialize creates the enabled backends. An error of a backend is final; a failed connection to the API server is
// not.
func (s *simulation) initialize() error {
	found, err := discovery.NewDiscoveryClientForConfig(s.RESTConfig)
	if err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	if _, err := found.ServerVersion(); err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	c, err := s.behaviour.Liberties.Client(nil)(s.RESTConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	environment := backends.Environment{Client: c, Discovery: found, Scheme: scheme}
	registry, err := backends.Initialize(s.factories, environment, s.config.Scheduler)
	if err != nil {
		return backoff.Permanent(s.behaviour.reworded(err))
	}
	s.registry = registry
	return nil
}

// selection finds the backend of a workload.
type selection struct {
	registry  *backends.Registry
	config    *config.OperatorConfiguration
	behaviour behaviour
}

// in is the selection for the objects of a namespace.
func (s selection) in(namespace string) selection {
	s.behaviour = s.behaviour.in(namespace)
	return s
}

// canonical is the canonical name of a scheduler.
func (s selection) canonical(name string) string {
	if s.behaviour.Has(faultKubeRejectedInPods) {
		return name
	}
	return s.behaviour.dialect(nil).Canonical(name)
}

// named is the enabled backend with a name; nil if there is none.
func (s selection) named(name string) backends.SchedulerBackend {
	name = s.canonical(name)
	if name == config.DefaultScheduler && s.behaviour.Has(faultKubeOnlyIfListed) && !s.lists(name) {
		return nil
	}
	return s.registry.Get(name)
}

func (s selection) lists(name string) bool {
	for _, profile := range s.config.Scheduler.Profiles {
		if profile.Name == name {
			return true
		}
	}
	return len(s.config.Scheduler.Profiles) == 0
}

// defaultBackend is the backend of workloads that name none.
func (s selection) defaultBackend() backends.SchedulerBackend {
	if b := s.registry.GetDefault(); b != nil {
		return s.named(b.Name())
	}
	return nil
}

// of is the backend of a PodCliqueSet, by the first clique that names a scheduler: the webhook ensures that all name
// the same. It is nil if the backend is not enabled.
func (s selection) of(set *api.PodCliqueSet) backends.SchedulerBackend {
	for i := range set.Spec.Template.Cliques {
		if name := set.Spec.Template.Cliques[i].Spec.PodSpec.SchedulerName; name != "" {
			return s.named(name)
		}
	}
	return s.defaultBackend()
}

// unsupported is what the backend does not support for a PodCliqueSet.
func unsupported(backend backends.SchedulerBackend, set *api.PodCliqueSet) []string {
	if b, ok := backend.(backends.PassThrough); ok {
		return b.Unsupported(set)
	}
	return nil
}
