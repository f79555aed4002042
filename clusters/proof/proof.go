// Package proof reads a component's version and gates from its own metrics.
package proof

import (
	"errors"
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Component returns an error unless /metrics prove that a component runs a version ("": any) with these gates.
func Component(metrics []byte, version string, gates map[string]bool) error {
	found, err := families(metrics)
	if err != nil {
		return err
	}
	var errs []error
	if got := label(found[buildMetric], "git_version"); version != "" && !isRelease(got, version) {
		errs = append(errs, fmt.Errorf("runs version %q, not %s", got, version))
	}
	enabled := gatesIn(found)
	for _, gate := range clusters.SortedKeys(gates) {
		if gate == "AllAlpha" || gate == "AllBeta" {
			continue // these groups have no metric
		}
		got, known := enabled[strings.TrimPrefix(gate, "kube:")]
		if !known || got.Enabled != gates[gate] {
			errs = append(errs,
				fmt.Errorf("feature gate %s should be %t; %s says %v (known: %t)", gate, gates[gate], GateMetric, got.Enabled,
					known))
		}
	}
	return errors.Join(errs...)
}

// isRelease reports whether a component's version is a release, perhaps with the suffix of a development build.
func isRelease(got, release string) bool {
	v, err := clusters.ParseRelease(got)
	return err == nil && v.String() == strings.TrimPrefix(release, "v")
}

// Version returns the exact version in a component's /metrics; "" if there is none.
func Version(metrics []byte) (string, error) {
	found, err := families(metrics)
	return strings.TrimPrefix(label(found[buildMetric], "git_version"), "v"), err
}

// Emulation returns an error unless the /metrics prove that a component has the emulation settings of a state.
// Settings that the state does not have are not checked.
func Emulation(metrics []byte, state clusters.State) error {
	found, err := families(metrics)
	if err != nil {
		return err
	}
	var errs []error
	for name, want := range map[string]string{
		"emulation": state.EmulatedVersion, "min_compat": state.MinCompatibilityVersion,
	} {
		if got := label(found[emulationMetric], name); want != "" && got != want {
			errs = append(errs, fmt.Errorf("%s says %s %q, not %q", emulationMetric, name, got, want))
		}
	}
	return errors.Join(errs...)
}

func label(family *dto.MetricFamily, name string) string {
	for _, metric := range family.GetMetric() {
		for _, pair := range metric.GetLabel() {
			if pair.GetName() == name {
				return pair.GetValue()
			}
		}
	}
	return ""
}
