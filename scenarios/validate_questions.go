package scenarios

import (
	"cmp"
	"maps"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

func (v *validator) resolve(r *Resolve, n *node) {
	v.present(r.Name, n, "name")
	v.oneOf(r.Type, []string{"A", "AAAA", "SRV", "PTR", "CNAME", "TXT"}, n.at("type"), "type of record")
	e := r.Expect
	if e == nil {
		return
	}
	at := n.get("expect")
	if e.Rcode == "" && e.Count == nil && len(e.Answers) == 0 {
		v.at(at, "give rcode, count or answers", "nothing is expected here")
	}
	v.oneOf(e.Rcode, []string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"}, at.at("rcode"), "rcode")
	v.count(e.Count, at.at("count"))
	if e.Count != nil && e.Count.All {
		v.at(at.at("count"), "", "an answer has no others to count \"all\" of")
	}
	if e.Rcode != "" && e.Rcode != "NOERROR" && len(e.Answers) > 0 {
		v.at(at.at("answers"), "", "an answer with the rcode %s has no records", e.Rcode)
	}
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

// uses says whether an expression mentions a variable.
func (v *validator) uses(expression, variable string) bool {
	if strings.TrimSpace(expression) == "" {
		return false
	}
	for _, u := range v.expressions.cache.get(expression).uses {
		if u.variable == variable {
			return true
		}
	}
	return false
}

func (v *validator) command(c *Command, n *node) {
	v.program(c.Run, c.Expect, n, "such as run: [kubectl, get, pods]")
	for _, name := range clusters.SortedKeys(c.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			v.at(n.at("env").key(name), "", "%q is no name of an environment variable", short(name))
		}
	}
}

func (v *validator) exec(e *Exec, n *node) {
	v.present(e.Pod, n, "pod")
	for _, name := range []string{"namespace", "container"} {
		if at := n.get(name); at != nil && at.text == "" {
			v.at(at, "leave it out", "%s is empty", name)
		}
	}
	v.program(e.Run, e.Expect, n, "such as run: [nslookup, web]")
}

// program checks what is run, and what is expected of it.
func (v *validator) program(run []string, e *CommandExpect, n *node, example string) {
	if len(run) == 0 || run[0] == "" {
		v.at(n.at("run"), example, "no program is named")
	}
	if e == nil {
		return
	}
	at := n.get("expect")
	if e.ExitCode < 0 || e.ExitCode > 255 {
		v.at(at.at("exitCode"), "", "no program ends with the code %d", e.ExitCode)
	}
	v.text(e.Stdout, at.at("stdout"))
	v.text(e.Stderr, at.at("stderr"))
}
