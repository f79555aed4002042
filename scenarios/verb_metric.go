package scenarios

import (
	"cmp"
	"maps"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func metricVerb() verb {
	return verb{
		name: "metric", ownExpect: true, asksOne: true,
		reads:     onlyReads,
		component: func(s *Step) *ComponentReference { return &ComponentReference{Component: component(s.Metric)} },
		about:     func(s *Step) string { return s.Metric.Name },
		check:     func(v *validator, c stepCheck) { checkMetric(v, c.scenario, c.i, c.node) },
		results:   []string{"value", "delta"},
		empty:     func(s *Step) bool { return s.Metric.Expect != nil && s.Metric.Expect.Absent },
		within:    func(s *Step) *Duration { return &copied(&s.Metric).Within },
	}
}

// Metric reads a component's metric: the sum of the series whose labels match.
type Metric struct {
	// Component whose /metrics is read. Default: kube-apiserver.
	Component clusters.Component `json:"component,omitempty" fixed:"true"`
	// Name of the metric: apiserver_request_total.
	Name string `json:"name" filled:"true"`
	// Labels that select the series.
	Labels map[string]string `json:"labels,omitempty"`
	// Since is the name of an earlier metric step; delta is the difference from its value. A row of a table is "name
	// [row]".
	Since string `json:"since,omitempty" fixed:"true"`
	// Within is the time in which the reading is repeated until it meets the expectation. Default: read once.
	Within Duration `json:"within,omitempty"`
	// Expect is the expected value. Default: the metric exists.
	Expect *MetricExpect `json:"expect,omitempty"`
}

// MetricExpect is the expected value of a metric. Exactly one field is set.
type MetricExpect struct {
	// Value of the metric.
	Value *float64 `json:"value,omitempty"`
	// Delta is the difference from the metric step named in since.
	Delta *float64 `json:"delta,omitempty"`
	// Absent: no series matches.
	Absent bool `json:"absent,omitempty"`
	// CEL is an expression over "value" and "delta" (both doubles: write 3.0, not 3). delta exists only with since.
	CEL string `json:"cel,omitempty" expression:"metric"`
}

func checkMetric(v *validator, s *Scenario, i int, n *yamltree.Node) {
	m := s.Spec.Steps[i].Metric
	v.present(m.Name, n, "name")
	v.OneOf(string(m.Component), states.Components(stateBefore(s, i)), n.At("component"), "component")
	if n.Get("since") != nil {
		checkSince(v, s, i, n.At("since"))
	}
	if n.Get("expect") != nil {
		checkMetricExpect(v, m, n.Get("expect"))
	}
	outputs := s.Spec.Steps[i].Outputs
	for _, name := range clusters.SortedKeys(outputs) {
		if m.Since == "" && v.uses(outputs[name], "delta") {
			v.At(n, "name the earlier step with since", "the output %s uses delta, but there is no since", name)
		}
	}
}

// checkSince checks that since names an earlier metric step that reads the same series of the same metric.
func checkSince(v *validator, s *Scenario, i int, n *yamltree.Node) {
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
		v.At(n, "", "the step %q is not before this one", words.Short(m.Since))
	case meant.Verb() == "": // its error is already reported
	case meant.Metric == nil:
		v.At(n, "", "the step %q reads no metric: it is a %s", words.Short(m.Since), meant.Verb())
	case meant.Metric.Name != m.Name || component(meant.Metric) != component(m):
		v.At(n, "", "the step %q reads another metric: %s of %s", words.Short(m.Since), meant.Metric.Name,
			component(meant.Metric))
	case meant.Via != s.Spec.Steps[i].Via:
		v.At(n, "ask the same control plane in both steps", "the step %q reads the metric %s, and this one %s",
			words.Short(m.Since), meant.Via.from(), s.Spec.Steps[i].Via.from())
	case !maps.Equal(meant.Metric.Labels, m.Labels):
		v.At(n, "", "the step %q reads the metric with other labels", words.Short(m.Since))
	}
}

func component(m *Metric) clusters.Component { return cmp.Or(m.Component, clusters.APIServer) }

func checkMetricExpect(v *validator, m *Metric, n *yamltree.Node) {
	set := 0
	for _, name := range []string{"value", "delta", "cel"} {
		if n.Get(name) != nil {
			set++
		}
	}
	if m.Expect.Absent {
		set++
	}
	if set != 1 {
		v.At(n, "", "give exactly one of value, delta, absent and cel, not %d", set)
	}
	if m.Since == "" && (m.Expect.Delta != nil || v.uses(m.Expect.CEL, "delta")) {
		v.At(n, "name the earlier metric step with since", "a delta needs since, an earlier metric step")
	}
}
