package planning

import (
	"context"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// checkOwnVersions finds components with their own version that the provider does not support, or that the version
// skew policy forbids beside the API servers that may run at that time.
func (p *planner) checkOwnVersions(ctx context.Context, s *scenarios.Scenario, path []clusters.State) {
	if !slices.ContainsFunc(path, func(state clusters.State) bool { return len(state.OwnVersions()) > 0 }) {
		return
	}
	places := pathPlaces(s)
	able := p.has(ctx, clusters.AbilityOwnVersions, s.Spec.Cluster)
	var servers []string
	known := map[string]bool{}
	for n, state := range path {
		step, forced := s.Transition(n-1), false
		if step == nil || step.Transition.UpTo == 0 {
			servers = nil
		}
		if step != nil {
			forced = step.Transition.Force
		}
		if !slices.Contains(servers, state.Version) {
			servers = append(servers, state.Version)
		}
		if own := state.OwnVersions(); len(own) > 0 && !able {
			p.lacking(places[n], "component "+string(own[0]), clusters.AbilityOwnVersions)
			return
		}
		found := map[string]bool{}
		for _, err := range skewed(state, servers) {
			if found[err.Error()] = true; !forced && !known[err.Error()] {
				p.problem(places[n], "%w; force: true in a transition allows it", err)
			}
		}
		known = found // components that were allowed once stay allowed
	}
}

// skewed returns an error for each component that must not run beside the API servers, unless all emulate a version.
func skewed(state clusters.State, servers []string) []error {
	if state.EmulatedVersion != "" {
		return nil
	}
	var errs []error
	for _, component := range state.OwnVersions() {
		for _, server := range servers {
			own, err1 := clusters.ParseVersion(state.VersionOf(component))
			apiServer, err2 := clusters.ParseVersion(server)
			if err := errors.Join(err1, err2); err != nil {
				errs = append(errs, err)
			} else if err := skew.CheckComponent(component, own, apiServer); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}
