package transplant

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/harness/capture"
)

// unstable matches the group versions that an API server does not serve by default.
var unstable = regexp.MustCompile(`/v\d+(alpha|beta)\d+$`)

// settings returns the gates and APIs of a captured cluster that differ from the defaults of its version. own is the
// list of that version, and list the list of the version that the copy starts with. Gates that cannot be set there are
// left out.
func settings(index *capture.Index, own, list *features.List) clusters.Change {
	change := clusters.Change{FeatureGates: map[string]*bool{}, RuntimeConfig: map[string]*string{}}
	only := map[string]*bool{}
	for _, name := range clusters.SortedKeys(index.Gates) {
		value := index.Gates[name]
		before, known := own.Gates[name].At(own.Of())
		if !known || before.Locked || defaultOf(own, name, before) == value {
			continue
		}
		spec, known := list.Gates[name].At(list.Of())
		if !known || spec.Locked {
			continue
		}
		if everywhere(list, name, spec) {
			change.FeatureGates[name] = &value
		} else {
			only[name] = &value
		}
	}
	if len(only) > 0 {
		change.Components = map[clusters.Component]*clusters.ComponentChange{clusters.APIServer: {FeatureGates: only}}
	}
	on := "true"
	for _, gv := range index.Served {
		if unstable.MatchString("/" + gv) {
			change.RuntimeConfig[gv] = &on
		}
	}
	return change
}

// defaultOf returns the default of a gate in kube-apiserver.
func defaultOf(list *features.List, name string, spec features.Spec) bool {
	if value, ok := list.Programs[clusters.APIServer][name]; ok {
		return value
	}
	return spec.Default
}

// everywhere reports whether all known programs have a gate. Each has those that are neither alpha nor beta, although
// they are in no --help.
func everywhere(list *features.List, name string, spec features.Spec) bool {
	if spec.Stage != features.Alpha && spec.Stage != features.Beta {
		return true
	}
	for _, gates := range list.Programs {
		if _, ok := gates[name]; !ok {
			return false
		}
	}
	return true
}

// FirstState returns the state of the captured cluster, with what its data needs. The user's flags override the
// cluster's own settings.
func FirstState(
	ctx context.Context, provider clusters.Provider, lists features.Lister, index *capture.Index, data *Copy,
	flags clusters.Change,
) (clusters.State, error) {
	asked := clusters.State{Version: index.Version}.With(flags)
	if newest := data.facts.newest; newest != nil && index.Version == "" {
		index.Version = fmt.Sprintf("%d.%d.%d", newest.Major, newest.Minor, newest.Patch)
	}
	if index.Version != "" {
		if err := notOlder(asked.Version, index.Version); err != nil {
			return clusters.State{}, err
		}
	}
	resolved, err := provider.Resolve(ctx, asked)
	if err != nil {
		return clusters.State{}, fmt.Errorf("the version of %s: %w", index.Source, err)
	}
	own, list, err := listsOf(ctx, lists, index, resolved.Version)
	if err != nil {
		return clusters.State{}, err
	}
	needs, err := data.Needs()
	if err != nil {
		return clusters.State{}, err
	}
	first := clusters.State{Version: resolved.Version}.With(settings(index, own, list)).With(needs)
	flags.Version = "" // it is resolved
	return Changed(first, flags), nil
}

// listsOf returns the gates of the captured cluster's version, and those of the version that the copy starts with.
func listsOf(ctx context.Context, lists features.Lister, index *capture.Index, version string,
) (own, list *features.List, err error) {
	if list, err = lists.FeatureList(ctx, version); err != nil {
		return nil, nil, fmt.Errorf("which feature gates %s has set: %w", index.Source, err)
	}
	if len(index.Gates) == 0 || index.Version == version {
		return list, list, nil
	}
	if own, err = lists.FeatureList(ctx, index.Version); err != nil {
		return nil, nil, fmt.Errorf("which feature gates of %s differ from the defaults of its version %s: %w",
			index.Source, index.Version, err)
	}
	return own, list, nil
}

// Changed returns the state of a copy after a user's change. The gates in the change are no longer set for single
// components, because that would override the change.
func Changed(state clusters.State, change clusters.Change) clusters.State {
	none := map[string]*bool{}
	for gate := range change.FeatureGates {
		none[gate] = nil
	}
	components := map[clusters.Component]*clusters.ComponentChange{}
	for name := range state.Components {
		components[name] = &clusters.ComponentChange{FeatureGates: none}
	}
	return state.With(clusters.Change{Components: components}).With(change)
}

// notOlder rejects a minor version older than the one of the data: an old API server does not know what a new one has
// stored.
func notOlder(asked, version string) error {
	a, err1 := clusters.ParseVersion(asked)
	v, err2 := clusters.ParseVersion(version)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if a.Major < v.Major || a.Major == v.Major && a.Minor < v.Minor {
		return fmt.Errorf("--from %s: the objects are of a cluster of version %s, and an older API server may not "+
			"understand its data; use --from %s", asked, version, v.MinorString())
	}
	return nil
}
