package harness

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func metricVerb() verb {
	return verb{
		run: runMetric, needs: always(clusters.AbilityMetrics),
		alone: func(step *scenarios.Step) string {
			if step.Metric.Since == "" && (step.Metric.Expect == nil || !counts(step.Metric.Name)) {
				return ""
			}
			return fmt.Sprintf("counts metric %s, to which other scenarios would add", step.Metric.Name)
		},
		lacks: func(s *scenarioRun, step *scenarios.Step) string {
			if _, read := earlier(s, step.Metric.Since); step.Metric.Since == "" || read {
				return ""
			}
			return fmt.Sprintf("the reading of %q, which did not pass", step.Metric.Since)
		},
	}
}

// counts reports whether a metric is a counter, by its name (https://prometheus.io/docs/practices/naming).
func counts(name string) bool {
	return slices.ContainsFunc([]string{"_total", "_count", "_sum", "_bucket"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix)
	})
}

// runMetric reads a component's metric, once or until it is as expected. A failed read is repeated until the step's
// timeout.
func runMetric(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	source, ok := s.shared.cluster.(clusters.MetricsSource)
	if !ok {
		return result{Outcome: lacking("metric", s.shared.cluster)}
	}
	m := *step.Metric
	if m.Component == "" {
		m.Component = clusters.APIServer
	}
	m.Component = s.component(m.Component)
	limited, cancel := context.WithTimeout(ctx, m.Within.Or(s.timeout(step, s.shared.StepTimeout)))
	defer cancel()
	var last reading
	r := repeat(limited, s.attempts(i), func() try {
		// A reading has its own timeout, so that one near the end does not count as failed.
		reading, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		now, err := readAll(reading, source, s.speakers(m.Component), m)
		last = now
		if err != nil {
			return try{undecided: true, problem: fmt.Sprintf("read metric %s of %s: %v", m.Name, m.Component, err)}
		}
		t := judgeMetric(ctx, s, &step, m, last)
		t.final = t.final || m.Within == 0
		return t
	})
	if r.Status == reports.Passed {
		s.readings = append(s.readings, named{&s.scenario.Spec.Steps[i], last})
	}
	return r
}

// readTimeout is how long one reading of the metrics may take.
const readTimeout = 10 * time.Second

// startTime is the metric by which a component shows that it was restarted.
const startTime = "process_start_time_seconds"

// reading is a metric at a moment: the sum of the series that match.
type reading struct {
	metric  scenarios.Metric
	series  int
	value   float64
	counter bool
	// started is the component's start time; 0 if it is not reported.
	started float64
}

func judgeMetric(ctx context.Context, s *scenarioRun, step *scenarios.Step, m scenarios.Metric, now reading) try {
	t := try{evidence: now.String()}
	expect := scenarios.MetricExpect{}
	if m.Expect != nil {
		expect = *m.Expect
	}
	switch {
	case expect.Absent && now.series > 0:
		t.problem = "expected no such series, got " + now.String()
		return t
	case expect.Absent:
		return t
	case now.series == 0:
		t.problem = now.String() + " (absent is not zero)"
		if before, ok := reread(s, m); ok && before.started != now.started {
			t.undecided = true
			t.problem += fmt.Sprintf("; %s restarted since %q, so its counters were reset", m.Component, m.Since)
		}
		return t
	}
	t.values = map[string]any{"value": now.value}
	if m.Since != "" {
		before, ok := reread(s, m)
		if !ok {
			return try{undecided: true, final: true, problem: fmt.Sprintf("metric %s: no earlier metric step is called %q",
				m.Name, m.Since)}
		}
		delta, err := now.since(before)
		if err != nil {
			return try{undecided: true, final: true, evidence: t.evidence, problem: err.Error()}
		}
		t.values["delta"] = delta
		t.evidence += fmt.Sprintf(", delta %v since %q", delta, m.Since)
	}
	if expect.CEL != "" {
		return judgeMetricCEL(ctx, s, step, now, t)
	}
	t.problem = metricProblem(expect, now, t.values)
	return t
}

func metricProblem(expect scenarios.MetricExpect, now reading, values map[string]any) string {
	delta, hasDelta := values["delta"]
	switch {
	case expect.Value != nil && *expect.Value != now.value:
		return fmt.Sprintf("expected the value %v, got %s", *expect.Value, now)
	case expect.Delta != nil && !hasDelta:
		return "a delta needs since: the name of an earlier metric step"
	case expect.Delta != nil && *expect.Delta != delta:
		return fmt.Sprintf("expected the delta %v, got %v: %s", *expect.Delta, delta, now)
	}
	return ""
}

func judgeMetricCEL(ctx context.Context, s *scenarioRun, step *scenarios.Step, now reading, t try) try {
	expression, vars := step.Metric.Expect.CEL, s.variables(step)
	maps.Copy(vars, t.values)
	holds, err := s.shared.Expressions.WithContext(ctx).EvalBool(expression, vars)
	switch {
	case err != nil:
		t.undecided, t.problem = true, fmt.Sprintf("cel %s of %s: %v", expression, now, err)
	case !holds:
		t.problem = fmt.Sprintf("cel %s is false: %s", expression, t.evidence)
	}
	return t
}

// named is a reading with the step that made it.
type named struct {
	step *scenarios.Step
	reading
}

// earlier returns the last reading that a step of that name made.
func earlier(s *scenarioRun, name string) (reading, bool) {
	for _, r := range slices.Backward(s.readings) {
		if r.step.Named(name) {
			return r.reading, true
		}
	}
	return reading{}, false
}

// reread returns the last reading of an earlier step; with several API servers, that of the same one.
func reread(s *scenarioRun, m scenarios.Metric) (reading, bool) {
	for _, r := range slices.Backward(s.readings) {
		if r.step.Named(m.Since) && r.metric.Component == m.Component {
			return r.reading, true
		}
	}
	return earlier(s, m.Since)
}

// since returns how much was added after the earlier reading of the same metric. Counters begin at zero when their
// component starts, and a series that did not exist yet was at zero.
func (r reading) since(before reading) (float64, error) {
	if before.metric.Component != r.metric.Component || before.metric.Name != r.metric.Name ||
		!maps.Equal(before.metric.Labels, r.metric.Labels) {
		return 0, fmt.Errorf("the delta of %s cannot be computed: the earlier step read another metric, %s", r.title(),
			before.title())
	}
	if r.counter && (before.started != r.started || r.value < before.value) {
		return 0, fmt.Errorf("the delta of %s cannot be computed: %s restarted in between, so its counters were "+
			"reset (it was %v, is %v)",
			r.title(), r.metric.Component, before.value, r.value)
	}
	return r.value - before.value, nil
}

func (r reading) title() string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(r.metric.Labels)) {
		labels = append(labels, fmt.Sprintf("%s=%q", name, r.metric.Labels[name]))
	}
	return fmt.Sprintf("%s %s{%s}", r.metric.Component, r.metric.Name, strings.Join(labels, ","))
}

// String is the reading in a few words.
func (r reading) String() string {
	if r.series == 0 {
		return r.title() + ": no such series"
	}
	return fmt.Sprintf("%s: %v (%d series)", r.title(), r.value, r.series)
}

// readAll reads a metric of one component, or adds up the counters of several API servers. For a metric that is not a
// counter it returns the value of the first server that has it: each server counts the same stored objects, for
// instance.
func readAll(ctx context.Context, source clusters.MetricsSource, of []clusters.Component,
	m scenarios.Metric,
) (all reading, err error) {
	for i, component := range of {
		text, err := source.Metrics(ctx, component)
		if err != nil {
			return all, err
		}
		one, err := readMetric(text, m)
		switch {
		case err != nil:
			return all, err
		case i == 0:
			all = one
			continue
		case all.series == 0:
			all.series, all.value, all.counter = one.series, one.value, one.counter
		case one.counter && all.counter:
			all.series, all.value = all.series+one.series, all.value+one.value
		}
		all.started += one.started
	}
	return all, nil
}

// readMetric sums the series that match in a text of the Prometheus format.
func readMetric(text []byte, m scenarios.Metric) (reading, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return reading{}, fmt.Errorf("parse the metrics: %w", err)
	}
	r := reading{metric: m}
	for _, family := range families {
		// Histograms and summaries have a _count and a _sum, and a sample for each bucket or quantile.
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, family)
		if err != nil {
			return reading{}, fmt.Errorf("parse the metrics: %w", err)
		}
		for _, sample := range samples {
			switch name := string(sample.Metric[model.MetricNameLabel]); {
			case name == startTime:
				r.started = float64(sample.Value)
			case name == m.Name && hasLabels(sample.Metric, m.Labels):
				r.series++
				r.value += float64(sample.Value)
				r.counter = isCounter(family, name)
			}
		}
	}
	if m.Name == startTime && r.started != 0 {
		r.series, r.value = 1, r.started
	}
	return r, nil
}

func hasLabels(metric model.Metric, labels map[string]string) bool {
	for name, value := range labels {
		if string(metric[model.LabelName(name)]) != value {
			return false
		}
	}
	return true
}

// isCounter reports whether a sample of a family only grows: everything but a gauge and a summary's quantiles.
func isCounter(family *dto.MetricFamily, name string) bool {
	switch family.GetType() {
	case dto.MetricType_COUNTER, dto.MetricType_HISTOGRAM:
		return true
	case dto.MetricType_SUMMARY:
		return name != family.GetName()
	}
	return false
}
