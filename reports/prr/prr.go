// Package prr answers the questions of the production readiness review of a Kubernetes enhancement from runs of its
// scenarios.
package prr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Markdown returns the questions of the enhancement template, under their exact headings, with the results of the
// scenarios with the label kep. A question without a result stays open, with a hint on what would answer it. It
// returns an error if there is no such scenario.
func Markdown(run *reports.Run, kep string) (string, error) {
	var journeys []journey
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if s.Labels["kep"] == kep {
				journeys = append(journeys, journeyOf(s, reports.Headline(run, track, s)))
			}
		}
	}
	if len(journeys) == 0 {
		return "", fmt.Errorf("no scenario of the run has the label kep: %q; add it to metadata.labels of its scenarios, "+
			"and run them again", kep)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by rehearse report prr --kep %s from a run of %s. Read it before you paste it. -->\n",
		kep, run.Started.UTC().Format("2006-01-02 15:04 MST"))
	for _, q := range questions() {
		fmt.Fprintf(&b, "\n###### %s\n\n", q.heading)
		if answer := q.answer(run, journeys); answer != "" {
			b.WriteString(answer)
		} else {
			fmt.Fprintf(&b, "*Open: no scenario answers it.* This would: %s\n", q.would)
		}
	}
	return b.String(), nil
}

// journey is one scenario with the states that it reached.
type journey struct {
	*reports.Scenario
	remark string
	// states are the reached states, and begins the index of the first step in each.
	states []string
	begins []int
}

func journeyOf(s *reports.Scenario, remark string) journey {
	j := journey{Scenario: s, remark: remark}
	for i, step := range s.Steps {
		if step.Verb == reports.Cleanup || step.Status == reports.NotRun || step.State == "" {
			continue
		}
		if n := len(j.states); n == 0 || j.states[n-1] != step.State {
			j.states, j.begins = append(j.states, step.State), append(j.begins, i)
		}
	}
	// If no step follows the last transition, the state after it begins with no step.
	if n := len(s.Steps); n > 0 && s.Steps[n-1].Verb == "transition" && s.Steps[n-1].Status == reports.Passed {
		if after, ok := strings.CutPrefix(s.Steps[n-1].Evidence, "the cluster is now "); ok {
			j.states, j.begins = append(j.states, after), append(j.begins, n)
		}
	}
	return j
}

// gates returns the gates of a state, by name. The name of a single component's gate begins with the component.
func gates(state string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(state)[1:] {
		name, value, ok := strings.Cut(word, "=")
		component, gate := ofComponent(name)
		switch {
		case !ok || value != "true" && value != "false":
		case strings.Contains(gate, "/") || strings.HasPrefix(gate, "--") || gate == "emulationForwardCompatible":
			// It is a runtime configuration, a flag, or a field of the state.
		case component == "":
			all[gate] = value == "true"
		default:
			all[name] = value == "true"
		}
	}
	return all
}

// ofComponent returns the component of a gate, "" if it is set for all of them, and its name.
func ofComponent(name string) (component, gate string) {
	i := strings.LastIndex(name, ":")
	if component = name[:max(i, 0)]; component == "kube" {
		component = ""
	}
	return component, name[i+1:]
}

// after finds the state at which a gate has had the given values, one after the other. It returns the state's index,
// or -1 if there is none.
func (j journey) after(values ...bool) (state int, gate string) {
	names := map[string]bool{}
	for _, s := range j.states {
		for name := range gates(s) {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		next := 0
		for i, s := range j.states {
			if value, set := gates(s)[name]; set && value == values[next] {
				if next++; next == len(values) {
					return i, name
				}
			}
		}
	}
	return -1, ""
}

// turns reports whether the versions go up, down, and up again.
func (j journey) turns() (up, down, again bool) {
	for i := 1; i < len(j.states); i++ {
		switch c := reports.CompareVersions(reports.VersionOf(j.states[i-1]), reports.VersionOf(j.states[i])); {
		case c < 0 && down:
			again = true
		case c < 0:
			up = true
		case c > 0 && up:
			down = true
		}
	}
	return up, down, again
}

// stepsIn returns the steps of a state.
func (j journey) stepsIn(state int) []*reports.Step {
	end := len(j.Steps)
	if state+1 < len(j.begins) {
		end = j.begins[state+1]
	}
	return j.Steps[j.begins[state]:end]
}

// observed lists the steps of a state with their results.
func (j journey) observed(state int) string {
	var b strings.Builder
	for _, step := range j.stepsIn(state) {
		if step.Verb == "transition" || step.Verb == reports.Cleanup {
			continue
		}
		fmt.Fprintf(&b, "    - %s: **%s**", escaped(reports.StepTitle(step)), reports.StatusWord(step.Status))
		if seen := plain.FirstLine(step.Evidence); seen != "" {
			fmt.Fprintf(&b, "; seen: %s", escaped(seen))
		} else if why := plain.FirstLine(step.Message); why != "" {
			fmt.Fprintf(&b, "; %s", escaped(why))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// title returns a scenario with its verdict and its place.
func (j journey) title() string {
	text := fmt.Sprintf("`%s` (%s:%d): **%s**", j.Name, j.File, j.Line, reports.StatusWord(j.Status))
	if j.Status != reports.Passed && j.remark != "" {
		text += ": " + escaped(j.remark)
	}
	return text
}

func (j journey) path() string { return "`" + strings.Join(j.states, "` → `") + "`" }
