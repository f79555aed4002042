package harness

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// plannedRun makes the result of a run of which nothing has run yet.
func plannedRun(p *Plan) *reports.Run {
	run := &reports.Run{Provider: p.Provider.Name(), Tracks: []*reports.Track{}, Sources: map[string]string{}}
	for _, s := range p.Scenarios() {
		run.Sources[s.Position.File] = s.Text
	}
	for _, track := range p.Tracks {
		run.Tracks = append(run.Tracks, plannedTrack(track, p.Provider))
	}
	if len(p.Skipped) > 0 {
		run.Tracks = append(run.Tracks, plannedSkips(p.Skipped))
	}
	return run
}

func plannedTrack(t *Track, provider clusters.Provider) *reports.Track {
	t.result = &reports.Track{Name: t.Name}
	for _, state := range t.Path {
		t.result.Path = append(t.result.Path, state.String())
	}
	setup := func(verb, name string) *reports.Step {
		step := &reports.Step{Verb: verb, Name: name, Status: reports.NotRun}
		t.result.Setup = append(t.result.Setup, step)
		return step
	}
	whose, borrowed := borrowedFrom(provider)
	if borrowed {
		t.create = setup("using", whose+", "+t.result.Path[0])
	} else {
		t.create = setup("create", t.result.Path[0])
		_, t.create.Change = t.Path[0].Difference(clusters.State{})
	}
	t.install = nil
	if hasSystems(t.Path[:1]) {
		t.install = setup("install", strings.Join(namesOf(t.Path[0].Systems), ", "))
	}
	t.snapshot = nil
	if len(t.Serves) > 0 {
		t.snapshot = setup("snapshot", "for "+t.served())
	}
	t.transitions = nil
	for i, state := range t.Path[1:] {
		step := setup("transition", state.After(t.Path[i]))
		step.Direction, step.Change = state.Difference(t.Path[i])
		step.Called = t.called(i)
		t.transitions = append(t.transitions, step)
	}
	if borrowed {
		t.remove = setup("leaving", whose)
	} else {
		t.remove = setup("delete", "cluster")
	}
	for _, entry := range t.Entries {
		entry.result, entry.steps = plannedScenario(entry.Scenario, entry.Path(t))
		t.result.Scenarios = append(t.result.Scenarios, entry.result)
	}
	return t.result
}

// called are the names that the track's scenarios give its n-th transition.
func (t *Track) called(n int) []string {
	var names []string
	for _, entry := range t.Entries {
		if step := entry.Scenario.Transition(n); step != nil && step.Name != "" {
			names = append(names, step.Title())
		}
	}
	return unique(names)
}

func plannedScenario(s *scenarios.Scenario, path []clusters.State) (*reports.Scenario, []*reports.Step) {
	result := &reports.Scenario{
		Name: s.Title(), System: s.Metadata.Labels["system"], Description: s.Spec.Description,
		File: s.Position.File, Line: s.Position.Line, Labels: s.Metadata.Labels, Covers: s.Spec.Covers,
		Status: reports.NotRun,
	}
	for _, state := range path {
		result.Versions = append(result.Versions, state.Version)
		result.Gates = append(result.Gates, gates(state)...)
	}
	result.Versions, result.Gates = unique(result.Versions), unique(result.Gates)
	at := 0
	for i := range s.Spec.Steps {
		step := &s.Spec.Steps[i]
		result.Steps = append(result.Steps, &reports.Step{
			Name: step.Title(), Verb: step.Verb(), Position: step.Position.String(), Status: reports.NotRun,
			State:  path[at].String(),
			Covers: step.Covers,
		})
		if step.Transition != nil {
			at++
		}
	}
	return result, result.Steps
}

// gates of a state as Name=true, or component:Name=true for those of one component.
func gates(state clusters.State) []string {
	var all []string
	for _, name := range clusters.SortedKeys(state.FeatureGates) {
		all = append(all, fmt.Sprintf("%s=%t", name, state.FeatureGates[name]))
	}
	for _, component := range clusters.SortedKeys(state.Components) {
		own := state.Components[component].FeatureGates
		for _, name := range clusters.SortedKeys(own) {
			all = append(all, fmt.Sprintf("%s:%s=%t", component, name, own[name]))
		}
	}
	return all
}

// Describe writes what would be done: each track with its path and what it costs, its scenarios and their steps.
func (p *Plan) Describe(w io.Writer) error {
	var b strings.Builder
	total, starts, unshared, copied := 0, 0, 0, 0
	for _, track := range p.Tracks {
		if track.From != nil {
			copied++
		}
		total += len(track.Entries)
		starts += len(track.Path)
		for _, entry := range track.Entries {
			unshared += entry.States
		}
		track.describe(&b, p.Provider)
	}
	for _, s := range p.Skipped {
		fmt.Fprintf(&b, "skipped: scenario %s (%s): %s\n\n", s.Scenario.Title(), s.Scenario.Position, s.Why)
	}
	shared := ""
	if unshared > starts {
		shared = fmt.Sprintf("; without sharing there would be %d", unshared)
	}
	if whose, borrowed := borrowedFrom(p.Provider); borrowed {
		fmt.Fprintf(&b, "%s on %s, which stays.\n", count(total, "scenario"), whose)
	} else {
		fmt.Fprintf(&b, "%s on %s, %s of the %s provider%s.\n", count(total, "scenario"), count(len(p.Tracks), "cluster"),
			count(starts, "start"), p.Provider.Name(), shared)
	}
	if copied > 0 {
		fmt.Fprintf(&b, "%s with a snapshot of another's first state, which costs about half of a start from nothing with "+
			"systems, and 0.7 of one without.\n", beginning(copied))
	}
	for _, program := range p.unbuilt() {
		fmt.Fprintf(&b, "To be built first, which takes minutes (`rehearse fetch FILE` does it beforehand): %s\n", program)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Track) describe(b *strings.Builder, provider clusters.Provider) {
	fmt.Fprintf(b, "%s: %s", t.Name, count(len(t.Path), "start"))
	if t.Alone != "" {
		fmt.Fprintf(b, ", one scenario alone: %s", t.Alone)
	}
	for i, state := range t.Path {
		if i == 0 {
			begin := "create"
			if whose, borrowed := borrowedFrom(provider); borrowed {
				begin = "using " + whose + ","
			}
			fmt.Fprintf(b, "\n  %s %s%s", begin, state, t.beginning())
			continue
		}
		fmt.Fprintf(b, "\n    then %s%s", state.After(t.Path[i-1]), t.TransitionOptions[i-1])
	}
	b.WriteString("\n")
	for _, entry := range t.Entries {
		s := entry.Scenario
		fmt.Fprintf(b, "  scenario %s (%s)%s\n", s.Title(), s.Position, entry.leaving(t))
		for i := range s.Spec.Steps {
			fmt.Fprintf(b, "    %2d. %s\n", i+1, described(&s.Spec.Steps[i]))
		}
		for _, known := range s.Spec.Known {
			if applies(known, entry.Path(t)) {
				fmt.Fprintf(b, "    known to fail at %q: %s\n", known.Step, known.Reason)
			}
		}
	}
	b.WriteString("\n")
}

// beginning says in a plan what the track's cluster begins with, and who else does.
func (t *Track) beginning() string {
	text := ""
	if t.From != nil {
		text = ", from the snapshot of " + t.From.Name
	}
	if len(t.Serves) > 0 {
		text += ", snapshot for " + t.served()
	}
	return text
}

// served names the tracks that begin with a snapshot of this one's.
func (t *Track) served() string {
	var names []string
	for _, other := range t.Serves {
		names = append(names, other.Name)
	}
	return strings.Join(names, ", ")
}

func beginning(clusters int) string {
	if clusters == 1 {
		return "1 cluster begins"
	}
	return fmt.Sprintf("%d clusters begin", clusters)
}

// described is a step's title, with its verb if that does not begin it anyway, and what it is to break.
func described(step *scenarios.Step) string {
	if broken := step.Breaks(); broken != nil {
		return fmt.Sprintf("transition: %s (breaks %s)", step.Title(), broken.Culprit())
	}
	if strings.HasPrefix(step.Title(), step.Verb()) {
		return step.Title() + loaded(step)
	}
	return step.Verb() + ": " + step.Title() + loaded(step)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String is what Describe writes.
func (p *Plan) String() string {
	var b strings.Builder
	_ = p.Describe(&b) // a Builder takes everything
	return b.String()
}

// Scenarios of the plan, in the order of its tracks.
func (p *Plan) Scenarios() []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, track := range p.Tracks {
		for _, entry := range track.Entries {
			all = append(all, entry.Scenario)
		}
	}
	return slices.Clip(all)
}
