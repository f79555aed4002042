package planning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// plannedRun returns the result of a run in which nothing has run yet.
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
	t.Report = &reports.Track{Name: t.Name}
	for _, state := range t.Path {
		t.Report.Path = append(t.Report.Path, state.String())
	}
	setup := func(verb, name string) *reports.Step {
		step := &reports.Step{Verb: verb, Name: name, Status: reports.NotRun}
		t.Report.Setup = append(t.Report.Setup, step)
		return step
	}
	whose, borrowed := BorrowedFrom(provider)
	if borrowed {
		t.Setup.Create = setup("using", whose+", "+t.Report.Path[0])
	} else {
		t.Setup.Create = setup("create", t.Report.Path[0])
		_, t.Setup.Create.Change = t.Path[0].Difference(clusters.State{})
	}
	t.Setup.Install = nil
	if HasSystems(t.Path[:1]) {
		t.Setup.Install = setup("install", strings.Join(namesOf(t.Path[0].Systems), ", "))
	}
	t.Setup.Snapshot = nil
	if len(t.Serves) > 0 {
		t.Setup.Snapshot = setup("snapshot", "for "+t.served())
	}
	t.Setup.Transitions = nil
	for i, state := range t.Path[1:] {
		step := setup("transition", state.After(t.Path[i]))
		step.Direction, step.Change = state.Difference(t.Path[i])
		step.Called = t.called(i)
		t.Setup.Transitions = append(t.Setup.Transitions, step)
	}
	if borrowed {
		t.Setup.Remove = setup("leaving", whose)
	} else {
		t.Setup.Remove = setup("delete", "cluster")
	}
	for _, entry := range t.Entries {
		entry.Report, entry.Steps = plannedScenario(entry.Scenario, entry.Path(t))
		t.Report.Scenarios = append(t.Report.Scenarios, entry.Report)
	}
	return t.Report
}

// called returns the names that the track's scenarios give to its n-th transition.
func (t *Track) called(n int) []string {
	var names []string
	for _, entry := range t.Entries {
		if step := entry.Scenario.Transition(n); step != nil && step.Name != "" {
			names = append(names, step.Title())
		}
	}
	return reports.Union(names)
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
	result.Versions, result.Gates = reports.Union(result.Versions), reports.Union(result.Gates)
	at := 0
	for i := range s.Spec.Steps {
		step := &s.Spec.Steps[i]
		result.Steps = append(result.Steps, &reports.Step{
			Name: step.Title(), Verb: step.Verb(), Position: step.Position.String(), Status: reports.NotRun,
			State:  path[at].String(),
			Covers: step.Covers, Writes: new(step.Writes()),
		})
		if step.Transition != nil {
			at++
		}
	}
	return result, result.Steps
}

// gates returns the gates of a state as Name=true, or component:Name=true for those of one component.
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

// Scenarios returns the scenarios of the plan, in the order of its tracks.
func (p *Plan) Scenarios() []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, track := range p.Tracks {
		for _, entry := range track.Entries {
			all = append(all, entry.Scenario)
		}
	}
	return slices.Clip(all)
}
