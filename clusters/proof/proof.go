// Package proof reads from a component's own metrics what it runs.
package proof

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Component says whether a component's /metrics prove that it runs this version (exact; "" for any) with these gates.
func Component(metrics []byte, version string, gates map[string]bool) error {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(metrics))
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	var errs []error
	if got := label(families["kubernetes_build_info"], "git_version"); version != "" && strings.TrimPrefix(got, "v") != version {
		errs = append(errs, fmt.Errorf("runs version %q, not %s", got, version))
	}
	enabled := map[string]float64{}
	for _, metric := range families["kubernetes_feature_enabled"].GetMetric() {
		for _, pair := range metric.GetLabel() {
			if pair.GetName() == "name" {
				enabled[pair.GetValue()] = metric.GetGauge().GetValue()
			}
		}
	}
	for _, gate := range clusters.SortedKeys(gates) {
		if gate == "AllAlpha" || gate == "AllBeta" {
			continue // groups have no metric of their own
		}
		value, found := enabled[gate]
		if !found || (value == 1) != gates[gate] {
			errs = append(errs, fmt.Errorf("feature gate %s should be %t; kubernetes_feature_enabled says %v (known: %t)", gate, gates[gate], value == 1, found))
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
