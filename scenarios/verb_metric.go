package scenarios

import (
	"cmp"
	"maps"

	"github.com/rehearse-dev/rehearse/clusters"
)

func metricVerb() verb {
	return verb{
		name: "metric", ownExpect: true, asksOne: true,
		about:   func(s *Step) string { return s.Metric.Name },
		check:   func(v *validator, c stepCheck) { v.metric(c.scenario, c.i, c.node) },
		results: []string{"value", "delta"},
		within: func(s *Step) *Duration {
			metric := *s.Metric
			s.Metric = &metric
			return &metric.Within
		},
	}
}

// Metric reads a component's metric: the sum of the series whose labels match.
type Metric struct {
	// Component whose /metrics is read. Default: kube-apiserver.
	Component clusters.Component `json:"component,omitempty" fixed:"true"`
	// Name of the metric: apiserver_request_total.
	Name string `json:"name"`
	// Labels that a series must have.
	Labels map[string]string `json:"labels,omitempty"`
	// Since is the name of an earlier metric step against whose value delta is counted; a row of a table is "name [row]".
	Since string `json:"since,omitempty" fixed:"true"`
	// Within repeats the reading until it is as expected. Default: read once.
	Within Duration `json:"within,omitempty"`
	// Expect is what is expected of the value. Default: that the metric exists.
	Expect *MetricExpect `json:"expect,omitempty"`
}

// MetricExpect is what is expected of a metric's value. Exactly one field is set.
type MetricExpect struct {
	// Value wanted.
	Value *float64 `json:"value,omitempty"`
	// Delta wanted since the metric step that since names.
	Delta *float64 `json:"delta,omitempty"`
	// Absent: no series matches.
	Absent bool `json:"absent,omitempty"`
	// CEL is an expression over "value" and "delta" (both double: write 3.0, not 3). Only with since is there a delta.
	CEL string `json:"cel,omitempty" expression:"metric"`
}

func (v *validator) metric(s *Scenario, i int, n *node) {
	m := s.Spec.Steps[i].Metric
	v.present(m.Name, n, "name")
	v.oneOf(string(m.Component), components(stateBefore(s, i)), n.at("component"), "component")
	if n.get("since") != nil {
		v.since(s, i, n.at("since"))
	}
	if n.get("expect") != nil {
		v.metricExpect(m, n.get("expect"))
	}
	outputs := s.Spec.Steps[i].Outputs
	for _, name := range clusters.SortedKeys(outputs) {
		if m.Since == "" && v.uses(outputs[name], "delta") {
			v.at(n, "name the earlier step with since", "the output %s is made of delta, but there is no since", name)
		}
	}
}

// since names an earlier metric step that reads the same metric.
func (v *validator) since(s *Scenario, i int, n *node) {
	m := s.Spec.Steps[i].Metric
	meant := v.reference(s.Spec.Steps, m.Since, n, "step")
	if meant == nil {
		return
	}
	earlier := false
	for j := range i {
		earlier = earlier || &s.Spec.Steps[j] == meant
	}
	switch {
	case !earlier:
		v.at(n, "", "the step %q is not before this one", short(m.Since))
	case meant.Metric == nil:
		v.at(n, "", "the step %q reads no metric: it is a %s", short(m.Since), meant.Verb())
	case meant.Metric.Name != m.Name || component(meant.Metric) != component(m):
		v.at(n, "", "the step %q reads another metric: %s of %s", short(m.Since), meant.Metric.Name, component(meant.Metric))
	case !maps.Equal(meant.Metric.Labels, m.Labels):
		v.at(n, "", "the step %q reads the metric with other labels", short(m.Since))
	}
}

func component(m *Metric) clusters.Component { return cmp.Or(m.Component, clusters.APIServer) }

func (v *validator) metricExpect(m *Metric, n *node) {
	set := 0
	for _, name := range []string{"value", "delta", "cel"} {
		if n.get(name) != nil {
			set++
		}
	}
	if m.Expect.Absent {
		set++
	}
	if set != 1 {
		v.at(n, "", "give exactly one of value, delta, absent and cel; here are %d", set)
	}
	if m.Since == "" && (m.Expect.Delta != nil || v.uses(m.Expect.CEL, "delta")) {
		v.at(n, "name the earlier metric step with since", "a delta is counted from an earlier step, but there is no since")
	}
}
