package proof

import (
	"bytes"
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// GateMetric is the metric that shows a component's feature gates.
const GateMetric = "kubernetes_feature_enabled"

const buildMetric = "kubernetes_build_info"

// emulationMetric shows, since 1.34, what a component emulates.
const emulationMetric = "version_info"

// Gate is a feature gate in a component's metrics.
type Gate struct {
	Enabled bool
	// Stage as in the lists of feature gates: Alpha, Beta, GA, Deprecated.
	Stage string
}

// Gates reads the feature gates from a component's /metrics. A missing gate is unknown to the component.
func Gates(metrics []byte) (map[string]Gate, error) {
	found, err := families(metrics)
	if err != nil {
		return nil, err
	}
	gates := gatesIn(found)
	if len(gates) == 0 {
		return nil, fmt.Errorf("its metrics have no %s", GateMetric)
	}
	return gates, nil
}

// families parses the metrics that this package needs.
func families(metrics []byte) (map[string]*dto.MetricFamily, error) {
	found, err := Families(metrics, GateMetric, buildMetric, emulationMetric)
	if err == nil && len(found) == 0 && len(metrics) > 0 {
		return nil, fmt.Errorf("read metrics: neither %s nor %s exists", GateMetric, buildMetric)
	}
	return found, err
}

// Families parses only the metrics with these names, and without their types. There are thousands of others.
func Families(metrics []byte, names ...string) (map[string]*dto.MetricFamily, error) {
	var lines bytes.Buffer
	for line := range bytes.Lines(metrics) {
		if end := bytes.IndexAny(line, "{ "); end > 0 && slices.Contains(names, string(line[:end])) {
			lines.Write(bytes.TrimSuffix(line, []byte("\n")))
			lines.WriteByte('\n')
		}
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(&lines)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return found, nil
}

func gatesIn(found map[string]*dto.MetricFamily) map[string]Gate {
	gates := map[string]Gate{}
	for _, metric := range found[GateMetric].GetMetric() {
		name, gate := "", Gate{Enabled: metric.GetUntyped().GetValue() == 1, Stage: "GA"}
		for _, pair := range metric.GetLabel() {
			switch pair.GetName() {
			case "name":
				name = pair.GetValue()
			case "stage":
				if stage, known := map[string]string{
					"ALPHA": "Alpha", "BETA": "Beta",
					"DEPRECATED": "Deprecated",
				}[pair.GetValue()]; known {
					gate.Stage = stage
				}
			}
		}
		gates[name] = gate
	}
	return gates
}
