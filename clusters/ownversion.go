package clusters

import (
	"cmp"
	"fmt"
	"maps"
)

// VersionOf is the version that a component runs: its own, or the cluster's.
func (s State) VersionOf(c Component) string {
	component, _ := c.Plane()
	return cmp.Or(s.Components[component].Version, s.Version)
}

// Of is the state as one component goes by it: its version is the component's.
func (s State) Of(c Component) State {
	s.Version = s.VersionOf(c)
	return s
}

// OwnVersions lists the components that run another version than the cluster's, in order.
func (s State) OwnVersions() []Component {
	var all []Component
	for _, name := range SortedKeys(s.Components) {
		if s.Components[name].Version != "" {
			all = append(all, name)
		}
	}
	return all
}

// ResolveOwnVersions makes the versions of components exact. The state's own version is exact already: a component that
// turns out to run it has none of its own.
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

// CheckOwnVersions says which components cannot have a version of their own, and what theirs would not emulate.
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

// CanHaveOwnVersion says whether a component can run another version than the cluster's: the API server's is the
// cluster's.
func CanHaveOwnVersion(c Component) bool {
	return c.Binary() == ControllerManager || c.Binary() == Scheduler
}

// withoutOwn returns components of which none names the cluster's version; the ones given are left as they are.
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
