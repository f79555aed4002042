package backends

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
)

// Factories are the available backends, by name. To integrate a scheduler, add its factory.
type Factories map[string]Factory

// Names in order.
func (f Factories) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Registry holds the backends that are enabled.
type Registry struct {
	backends    map[string]SchedulerBackend
	defaultName string
}

// Initialize creates the backends that a configuration enables, and Kubernetes' own in any case, and calls the Init
// of each.
func Initialize(factories Factories, environment Environment, c config.SchedulerConfiguration) (*Registry, error) {
	r := &Registry{backends: map[string]SchedulerBackend{}, defaultName: c.DefaultProfileName}
	profiles := slices.Clone(c.Profiles)
	if !slices.ContainsFunc(profiles, func(p config.SchedulerProfile) bool { return p.Name == config.DefaultScheduler }) {
		profiles = append(profiles, config.SchedulerProfile{Name: config.DefaultScheduler})
	}
	for _, profile := range profiles {
		factory, ok := factories[profile.Name]
		if !ok {
			return nil, fmt.Errorf("failed to initialize %s backend: there is none; there are %q", profile.Name,
				factories.Names())
		}
		environment.Profile = profile
		backend, err := factory(environment)
		if err == nil {
			err = backend.Init()
		}
		if err != nil {
			return nil, fmt.Errorf("failed to initialize %s backend: %w", profile.Name, err)
		}
		r.backends[profile.Name] = backend
	}
	return r, nil
}

// Get returns the backend with a name, or nil if it is not enabled.
func (r *Registry) Get(name string) SchedulerBackend { return r.backends[name] }

// GetDefault returns the backend of workloads that name none, or nil if it is not enabled.
func (r *Registry) GetDefault() SchedulerBackend { return r.backends[r.defaultName] }
