package reports

import (
	"fmt"
	"slices"
	"strings"
)

// StateGates are the feature gates that matter to a scenario, with their values in a state.
type StateGates struct {
	// State in one line, and its version of Kubernetes.
	State   string `json:"state"`
	Version string `json:"version,omitempty"`
	// Gates by name: those that the scenario's states set, and their dependencies.
	Gates []EffectiveGate `json:"gates,omitempty"`
}

// EffectiveGate is the actual value of a feature gate.
type EffectiveGate struct {
	// Gate by its name.
	Gate string `json:"gate"`
	// NeededBy is the gate that depends on this one, if the scenario does not set this one itself.
	NeededBy string `json:"neededBy,omitempty"`
	// Readings of each component.
	Readings []GateReading `json:"readings"`
}

// GateReading is the value of a gate in one component.
type GateReading struct {
	// Component that was read.
	Component string `json:"component"`
	// Metric that proves the value; "" if none does.
	Metric string `json:"metric,omitempty"`
	// Enabled and Stage are the values of the metric.
	Enabled bool   `json:"enabled"`
	Stage   string `json:"stage,omitempty"`
	// NotProven is the reason if there is no value.
	NotProven string `json:"notProven,omitempty"`
}

// value is the gate with its value: "A=true", or "A not proven".
func (r GateReading) value(gate string) string {
	if r.NotProven != "" {
		return gate + " not proven"
	}
	return fmt.Sprintf("%s=%t", gate, r.Enabled)
}

// proof is the source of the value in these components, or the reason if there is no value.
func (r GateReading) proof(components []string) string {
	names := strings.Join(components, ", ")
	if r.NotProven != "" {
		return fmt.Sprintf("%s: %s", names, r.NotProven)
	}
	shown := 0
	if r.Enabled {
		shown = 1
	}
	return fmt.Sprintf("%s; %s: metric %s %d", r.Stage, names, r.Metric, shown)
}

// String is the gate with its proof: "A=true (Beta; kube-apiserver: metric kubernetes_feature_enabled 1)". Components
// with the same reading are listed together.
func (g EffectiveGate) String() string {
	type group struct {
		reading    GateReading
		components []string
	}
	var groups []*group
	for _, r := range g.Readings {
		component := r.Component
		r.Component = ""
		i := slices.IndexFunc(groups, func(known *group) bool { return known.reading == r })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{reading: r})
		}
		groups[i].components = append(groups[i].components, component)
	}
	var texts []string
	for _, known := range groups {
		because := ""
		if g.NeededBy != "" {
			because = "needed by " + g.NeededBy + "; "
		}
		texts = append(texts, fmt.Sprintf("%s (%s%s)", known.reading.value(g.Gate), because,
			known.reading.proof(known.components)))
	}
	return strings.Join(texts, ", ")
}

// String is the state's version, followed by its gates.
func (s StateGates) String() string {
	var texts []string
	for _, g := range s.Gates {
		texts = append(texts, g.String())
	}
	return s.Version + ": " + strings.Join(texts, ", ")
}

// gatesOf lists a scenario's gates: their values in each state that was reached or, if no state was reached, the
// planned values.
func gatesOf(s *Scenario) string {
	var texts []string
	for _, state := range s.StateGates {
		if len(state.Gates) > 0 {
			texts = append(texts, state.String())
		}
	}
	if len(texts) == 0 {
		return strings.Join(s.Gates, ", ")
	}
	return strings.Join(texts, "; ")
}
