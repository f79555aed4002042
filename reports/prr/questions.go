package prr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// The questions of the enhancement template, under their exact headings and in its order.
const (
	Toggle   = "How can this feature be enabled / disabled in a live cluster?"
	Default  = "Does enabling the feature change any default behavior?"
	Disable  = "Can the feature be disabled once it has been enabled (i.e. can we roll back the enablement)?"
	Reenable = "What happens if we reenable the feature if it was previously rolled back?"
	Tests    = "Are there any tests for feature enablement/disablement?"
	Impact   = "How can a rollout or rollback fail? Can it impact already running workloads?"
	Metrics  = "What specific metrics should inform a rollback?"
	Path     = "Were upgrade and rollback tested? Was the upgrade->downgrade->upgrade path tested?"
	Removals = "Is the rollout accompanied by any deprecations and/or removals of features, APIs, " +
		"fields of API types, flags, etc.?"
	InUse       = "How can an operator determine if the feature is in use by workloads?"
	Calls       = "Will enabling / using this feature result in any new API calls?"
	Unavailable = "How does this feature react if the API server and/or etcd is unavailable?"
)

// question of the enhancement template: its exact heading, its answer ("" for none), and what would answer it.
type question struct {
	heading string
	answer  func(*reports.Run, []journey) string
	would   string
}

func none(*reports.Run, []journey) string { return "" }

// questions returns the questions in the order of the template.
func questions() []question {
	return []question{
		{
			Toggle, toggled,
			"a scenario with a transition that changes the feature gate.",
		},
		{
			Default, unaffected,
			"a scenario whose objects do not use the feature, with `unchanged` over the transition that turns the gate on.",
		},
		{
			Disable, values(true, false),
			"a scenario that creates an object with the gate on, turns the gate off, and then reads, edits and " +
				"deletes the object.",
		},
		{
			Reenable, values(true, false, true),
			"a scenario that turns the gate on, off and on again, with assertions after the last transition.",
		},
		{
			Tests, tests,
			"a scenario with a transition that changes the feature gate.",
		},
		{
			Impact, disturbed,
			"a scenario that kills or restarts a component during the transition, with `throughout` over it.",
		},
		{
			Metrics, metrics,
			"a scenario with a `metric` step that shows the metric move under a fault, and not without it.",
		},
		{
			Path, turned,
			"a scenario whose transitions go up, down and up again.",
		},
		{
			Removals, none,
			"the list of gates that change between the versions: `rehearse gates --path OLD,NEW`.",
		},
		{
			InUse, none,
			"a `metric` step, or an `eventually` on a condition that only its users have.",
		},
		{
			Calls, none,
			"`metric` steps on `apiserver_request_total` with the gate off and on.",
		},
		{
			Unavailable, unavailable,
			"a scenario with `kill: {component: etcd}` or `kill: {component: kube-apiserver}`, and what holds afterwards.",
		},
	}
}

// toggled lists the gates that were changed in a live cluster, with the proof.
func toggled(_ *reports.Run, journeys []journey) string {
	proofs := map[string]bool{}
	var b strings.Builder
	for _, j := range journeys {
		for i := 1; i < len(j.states); i++ {
			before, now := gates(j.states[i-1]), gates(j.states[i])
			for _, name := range slices.Sorted(maps.Keys(now)) {
				if was, set := before[name]; set && was == now[name] {
					continue
				}
				line := fmt.Sprintf("- Feature gate `%s`, set to `%t` by restarting the components that have it (%s → %s); "+
					"proven by %s.\n", name, now[name], reports.VersionOf(j.states[i-1]), reports.VersionOf(j.states[i]),
					proven(j, j.states[i], name))
				if !proofs[line] {
					proofs[line] = true
					b.WriteString(line)
				}
			}
		}
	}
	return b.String()
}

// proven names the components whose metric has the gate's value.
func proven(j journey, state, name string) string {
	var by []string
	component, gate := ofComponent(name)
	for _, s := range j.StateGates {
		for _, e := range s.Gates {
			if s.State != state || e.Gate != gate {
				continue
			}
			for _, r := range e.Readings {
				one := fmt.Sprintf("%s (`%s`)", r.Component, r.Metric)
				if r.NotProven == "" && strings.HasPrefix(r.Component, component) && !slices.Contains(by, one) {
					by = append(by, one)
				}
			}
		}
	}
	if len(by) == 0 {
		return "nothing: no component's metric shows it"
	}
	return strings.Join(by, ", ")
}

// values answers with the results after a gate had the given values, one after the other.
func values(wanted ...bool) func(*reports.Run, []journey) string {
	return func(_ *reports.Run, journeys []journey) string {
		var b strings.Builder
		for _, j := range journeys {
			// A state in which nothing was observed answers nothing.
			if state, gate := j.after(wanted...); state >= 0 && j.observed(state) != "" {
				fmt.Fprintf(&b, "- %s\n  - path: %s\n  - with `%s` %s again:\n%s", j.title(), j.path(), gate,
					onOff(wanted[len(wanted)-1]), j.observed(state))
			}
		}
		return b.String()
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// tests lists the scenarios that changed a gate in a live cluster.
func tests(run *reports.Run, journeys []journey) string {
	var b strings.Builder
	for _, j := range journeys {
		if toggled(run, []journey{j}) != "" {
			fmt.Fprintf(&b, "- %s\n", j.title())
		}
	}
	return withCommand(run, b.String())
}

// unaffected lists what stayed unchanged while a gate was turned on.
func unaffected(_ *reports.Run, journeys []journey) string {
	var switched []journey
	for _, j := range journeys {
		if state, _ := j.after(false, true); state >= 0 {
			on := *j.Scenario
			on.Steps = j.stepsIn(state)
			j.Scenario = &on
			switched = append(switched, j)
		}
	}
	return byVerb(switched, func(step *reports.Step) bool { return step.Verb == "unchanged" })
}

// withCommand adds the command that repeats the run.
func withCommand(run *reports.Run, text string) string {
	if text == "" || run.Command == "" {
		return text
	}
	return text + "\nRepeat it: `" + strings.ReplaceAll(run.Command, "\n", "` and `") + "`\n"
}

func turned(run *reports.Run, journeys []journey) string {
	var b strings.Builder
	whole := false
	for _, j := range journeys {
		up, down, again := j.turns()
		if !up && !down {
			continue
		}
		whole = whole || again && j.Status == reports.Passed
		fmt.Fprintf(&b, "- %s\n  - path: %s\n", j.title(), j.path())
		for i, state := range j.states {
			if seen := j.observed(i); seen != "" {
				fmt.Fprintf(&b, "  - on `%s`:\n%s", state, seen)
			}
		}
	}
	if b.Len() > 0 && !whole {
		return withCommand(run, "*No scenario passed the whole path: upgrade, rollback and upgrade again.* These "+
			"ran:\n\n"+b.String())
	}
	return withCommand(run, b.String())
}

// disturbed lists the steps that disturbed the cluster, and the transitions that failed.
func disturbed(_ *reports.Run, journeys []journey) string {
	return byVerb(journeys, func(step *reports.Step) bool {
		return step.Verb == "kill" || step.Verb == "restart" || step.Verb == "transition" && step.Status != reports.Passed
	})
}

// unavailable lists the steps that killed the API server or etcd, and not a system with such a name.
func unavailable(_ *reports.Run, journeys []journey) string {
	return byVerb(journeys, func(step *reports.Step) bool {
		what := step.Evidence + " " + step.Message
		return step.Verb == "kill" && !strings.Contains(what, "system ") &&
			(strings.Contains(what, "kube-apiserver") || strings.Contains(what, "etcd"))
	})
}

func metrics(_ *reports.Run, journeys []journey) string {
	return byVerb(journeys, func(step *reports.Step) bool { return step.Verb == "metric" })
}

// byVerb lists the steps that ran and match, with their results.
func byVerb(journeys []journey, wanted func(*reports.Step) bool) string {
	var b strings.Builder
	for _, j := range journeys {
		var steps []string
		for _, step := range j.Steps {
			if step.Status != reports.NotRun && wanted(step) {
				line := fmt.Sprintf("  - on `%s`: %s: **%s**", step.State, escaped(reports.StepTitle(step)),
					reports.StatusWord(step.Status))
				if seen := plain.FirstLine(step.Evidence + "\n" + step.Message); seen != "" {
					line += "; seen: " + escaped(seen)
				}
				steps = append(steps, line+"\n")
			}
		}
		if len(steps) > 0 {
			fmt.Fprintf(&b, "- %s\n%s", j.title(), strings.Join(steps, ""))
		}
	}
	return b.String()
}

// escaped escapes a text for Markdown.
func escaped(text string) string { return plain.Cell(plain.Clean(text)) }
