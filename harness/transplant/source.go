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

// Settings returns the gates and APIs of a captured cluster that differ from the defaults of its version.
func Settings(index *capture.Index, list *features.List) clusters.Change {
	change := clusters.Change{FeatureGates: map[string]*bool{}, RuntimeConfig: map[string]*string{}}
	only := map[string]*bool{}
	for _, name := range clusters.SortedKeys(index.Gates) {
		value := index.Gates[name]
		spec, known := list.Gates[name].At(list.Of())
		if !known || spec.Locked || defaultOf(list, name, spec) == value {
			continue
		}
		if everywhere(list, name) {
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

// everywhere reports whether all known programs have a gate.
func everywhere(list *features.List, name string) bool {
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
	flags clusters.State,
) (clusters.State, error) {
	asked := flags
	if asked.Version == "" {
		asked.Version = index.Version
	}
	if newest := data.facts.newest; newest != nil && index.Version == "" {
		index.Version = fmt.Sprintf("%d.%d.%d", newest.Major(), newest.Minor(), newest.Patch())
	}
	if index.Version != "" {
		if err := notOlder(asked.Version, index.Version); err != nil {
			return flags, err
		}
	}
	resolved, err := provider.Resolve(ctx, asked)
	if err != nil {
		return flags, fmt.Errorf("the version of %s: %w", index.Source, err)
	}
	list, err := lists.FeatureList(ctx, resolved.Version)
	if err != nil {
		return flags, fmt.Errorf("which feature gates %s has set: %w", index.Source, err)
	}
	needs, err := data.Needs()
	if err != nil {
		return flags, err
	}
	settings := Settings(index, list)
	first := clusters.State{Version: resolved.Version}.With(settings).With(needs)
	first = first.With(clusters.Change{
		FeatureGates:  pointers(flags.FeatureGates),
		RuntimeConfig: pointers(flags.RuntimeConfig),
	})
	if len(flags.Nodes) > 0 {
		first.Nodes = flags.Nodes
	}
	return first, nil
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

func pointers[V any](values map[string]V) map[string]*V {
	changed := map[string]*V{}
	for name, value := range values {
		changed[name] = &value
	}
	return changed
}
