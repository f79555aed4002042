package clusters

import (
	"cmp"
	"fmt"
	"maps"
)

// VersionOf returns the version that a component runs: its own, or the cluster's.
func (s State) VersionOf(c Component) string {
	component, _ := c.Plane()
	return cmp.Or(s.Components[component].Version, s.Version)
}

// Of returns the state with the version of one component.
func (s State) Of(c Component) State {
	s.Version = s.VersionOf(c)
	return s
}

// OwnVersions lists the components that run a different version from the cluster's, in order.
func (s State) OwnVersions() []Component {
	var all []Component
	for _, name := range SortedKeys(s.Components) {
		if s.Components[name].Version != "" {
			all = append(all, name)
		}
	}
	return all
}

// ResolveOwnVersions makes the versions of components exact. The state's own version must already be exact. A
// component with the same version then has no own version.
func (s State) ResolveOwnVersions(resolve func(version string) (string, error)) (State, error) {
	own := s.OwnVersions()
	if len(own) == 0 {
		return s, nil
	}
	s.Components = maps.Clone(s.Components)
	for _, name := range own {
		component := s.Components[name]
		version, err := resolve(component.Version)
		if err != nil {
			return s, fmt.Errorf("component %s: %w", name, err)
		}
		component.Version = version
		s.Components[name] = component
	}
	s.Components = withoutOwn(s.Components, s.Version)
	return s, nil
}

// CheckOwnVersions returns errors for components that cannot have or emulate their version.
func (s State) CheckOwnVersions() []error {
	var errs []error
	for _, name := range s.OwnVersions() {
		if !CanHaveOwnVersion(name) {
			errs = append(errs, fmt.Errorf("component %s: only %s and %s can have their own version", name,
				ControllerManager, Scheduler))
		} else if err := s.Of(name).CheckEmulation(); err != nil {
			errs = append(errs, fmt.Errorf("component %s: %w", name, err))
		}
	}
	return errs
}

// CanHaveOwnVersion reports whether a component can run a different version from the cluster's. The cluster's version
// is that of its API server.
func CanHaveOwnVersion(c Component) bool {
	return c.Binary() == ControllerManager || c.Binary() == Scheduler
}

// withoutOwn returns the components without versions that equal the cluster's; it does not change its argument.
func withoutOwn(components map[Component]ComponentState, version string) map[Component]ComponentState {
	left := components
	for _, name := range SortedKeys(components) {
		component := components[name]
		if component.Version == "" || component.Version != version {
			continue
		}
		if component.Version = ""; len(component.FeatureGates)+len(component.Flags) > 0 {
			left = maps.Clone(left)
			left[name] = component
			continue
		}
		left = maps.Clone(left)
		delete(left, name)
	}
	if len(left) == 0 && len(components) > 0 {
		return nil
	}
	return left
}
