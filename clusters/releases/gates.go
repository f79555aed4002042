package releases

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// CheckGates rejects gates of a resolved state that the components' versions do not know or have locked, or that lack
// a dependency. If a version's gates are unknown, it reports that to progress and skips the check.
func CheckGates(ctx context.Context, from features.Lister, state clusters.State, components []clusters.Component,
	progress clusters.Progress,
) error {
	byVersion := map[string][]clusters.Component{}
	for _, component := range components {
		version := state.VersionOf(component)
		byVersion[version] = append(byVersion[version], component)
	}
	var errs []error
	for _, version := range clusters.SortedKeys(byVersion) {
		list, err := from.FeatureList(ctx, version)
		var unknown *NoFeatureListError
		if errors.As(err, &unknown) {
			progress("feature gates not checked: %v", err)
			continue
		}
		if err != nil {
			return err
		}
		errs = append(errs, checkGates(list, version, state, byVersion[version])...)
	}
	return errors.Join(errs...)
}

// checkGates checks the gates of the components that run one version.
func checkGates(list *features.List, text string, state clusters.State, components []clusters.Component) []error {
	version, err := clusters.ParseVersion(text)
	if err != nil {
		return []error{err}
	}
	var errs []error
	told := map[string]bool{}
	for _, component := range components {
		versions, err := features.VersionsIn(version, state.Flags(component))
		if err != nil {
			errs = append(errs, fmt.Errorf("component %s: %w", component, err))
			continue
		}
		for _, problem := range list.Check(versions, component.Binary(), state.Gates(component)) {
			if !told[problem.Message] {
				told[problem.Message] = true
				errs = append(errs, errors.New(problem.Message))
			}
		}
	}
	return errs
}

// GateDependencies returns the gates that a gate requires, in the version of a resolved state; none if its list is
// unknown.
func GateDependencies(ctx context.Context, from features.Lister, state clusters.State, gate string) []string {
	list, err := from.FeatureList(ctx, state.Version)
	if err != nil {
		return nil // the check of the gates has already reported this
	}
	return list.Dependencies(gate)
}

// BlameForField returns a clause about the feature gate that is the likely reason that an API server in a resolved
// state dropped a field of a kind: "feature gate X decides about it, and is off by default in 1.34.4 (Alpha)". It
// returns "" if no gate of the field is known, or if the gate is on.
func BlameForField(ctx context.Context, from features.Lister, state clusters.State, kind string, path []any) string {
	gate := features.GateOf(kind, path)
	if gate == "" {
		return ""
	}
	list, err := from.FeatureList(ctx, state.Version)
	if err != nil {
		return fmt.Sprintf("feature gate %s decides about it", gate)
	}
	versions, err := features.VersionsIn(list.Of(), state.Flags(clusters.APIServer))
	if err != nil {
		return fmt.Sprintf("feature gate %s decides about it", gate)
	}
	d := list.DescribeIn(gate, versions)
	value, set := state.Gates(clusters.APIServer)[gate]
	switch {
	case !d.Known:
		return fmt.Sprintf("feature gate %s decides about it, and %s does not know that gate", gate, list.Version)
	case set && value, !set && d.Spec.Default:
		return ""
	case set:
		return fmt.Sprintf("feature gate %s decides about it, and is set to false (%s in %s)", gate, d.Spec.Stage,
			list.Version)
	default:
		return fmt.Sprintf("feature gate %s decides about it, and is off by default in %s (%s)", gate, list.Version,
			d.Spec.Stage)
	}
}
