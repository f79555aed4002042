// Package offline checks the states of clusters with the contents of the cache: without a cluster, the network or the
// Go tool. It creates no clusters.
package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Cache has the feature gates of Kubernetes versions. A releases.Store is one.
type Cache interface {
	CachedVersion(version string) (clusters.Version, bool, error)
	CachedFeatureList(version string) (*features.List, error)
}

// Provider checks states. It is not safe for concurrent use.
type Provider struct {
	cache     Cache
	lists     map[string]*features.List
	unchecked []string
}

// New returns a provider that has checked nothing yet.
func New(cache Cache) *Provider {
	return &Provider{cache: cache, lists: map[string]*features.List{}}
}

var (
	_ clusters.Provider      = (*Provider)(nil)
	_ clusters.MethodChecker = (*Provider)(nil)
)

// Name is offline.
func (p *Provider) Name() string { return "offline" }

// Has always returns true: the provider that creates the clusters checks abilities.
func (p *Provider) Has(context.Context, clusters.Ability, clusters.State) (bool, error) {
	return true, nil
}

// Unchecked lists what could not be checked so far, one line each, with how it can be checked.
func (p *Provider) Unchecked() []string { return p.unchecked }

func (p *Provider) leave(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.unchecked, text) {
		p.unchecked = append(p.unchecked, text)
	}
}

// Resolve replaces a minor version with the exact version in the cache. Without one, the version stays unchanged.
func (p *Provider) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	if state.Version == "" {
		return state, nil
	}
	v, found, err := p.cache.CachedVersion(state.Version)
	if found {
		state.Version = v.String()
	}
	if err != nil {
		return state, err
	}
	return state.ResolveOwnVersions(func(own string) (string, error) {
		v, found, err := p.cache.CachedVersion(own)
		if !found {
			return own, err
		}
		return v.String(), err
	})
}

// Check reports what every provider would reject: gates that the version does not have or has locked, gates without
// their dependencies, and invalid nodes, control planes, schedulers and versions.
func (p *Provider) Check(ctx context.Context, path []clusters.State) error {
	var errs []error
	for _, state := range path {
		errs = append(errs, p.checkGates(ctx, state), clusters.CheckNodes(state.Nodes),
			clusters.CheckControlPlanes(state.ControlPlanes), state.CheckEmulation())
		errs = append(errs, state.CheckSchedulers()...)
		errs = append(errs, state.CheckOwnVersions()...)
		if len(state.SchedulerProfiles) > 0 ||
			slices.ContainsFunc(state.Schedulers, func(s clusters.NamedScheduler) bool { return len(s.Profiles) > 0 }) {
			p.leave("schedulerProfiles: `rehearse plan` checks them with the version's kube-scheduler")
		}
		for _, system := range state.Systems {
			if slices.ContainsFunc(system.Manifests, clusters.IsAddress) && len(system.Probes) == 0 {
				p.leave("system %s: whether its webhooks need probes; its manifests are not fetched", system.Name)
			}
		}
	}
	return errors.Join(errs...)
}

func (p *Provider) checkGates(ctx context.Context, state clusters.State) error {
	components := append(state.ControlPlane(), clusters.SortedKeys(state.Components)...)
	if !slices.ContainsFunc(components, func(c clusters.Component) bool { return len(state.Gates(c)) > 0 }) {
		return nil
	}
	if state.Version == "" {
		p.leave("feature gates of a cluster whose version no scenario names")
		return nil
	}
	return releases.CheckGates(ctx, lister{p}, state, components, func(string, ...any) {})
}

// lister gives CheckGates the lists of the cache, and notes which are missing.
type lister struct{ *Provider }

func (l lister) FeatureList(_ context.Context, version string) (*features.List, error) {
	if known, ok := l.lists[version]; ok {
		return known, nil
	}
	list, err := l.cache.CachedFeatureList(version)
	var none *releases.NoFeatureListError
	if errors.As(err, &none) {
		l.leave("feature gates of Kubernetes %s: %v", none.Version, none.Err)
	}
	if err == nil {
		l.lists[version] = list
	}
	return list, err
}

// CheckMethod accepts every method: the provider that makes the transitions checks them.
func (p *Provider) CheckMethod(_, _ clusters.State, _ string) error { return nil }

// errNoClusters is returned to a caller that does more than planning.
var errNoClusters = errors.New("clusters are only checked here, not created")

// Prepare always fails: this provider creates no clusters.
func (p *Provider) Prepare(context.Context, clusters.State) error { return errNoClusters }

// Create always fails.
func (p *Provider) Create(context.Context, string, clusters.State) (clusters.Cluster, error) {
	return nil, errNoClusters
}
