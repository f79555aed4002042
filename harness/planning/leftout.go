package planning

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// LeftOut is a scenario that cannot be planned. Err says why, with the positions in the scenario's file.
type LeftOut struct {
	Scenario *scenarios.Scenario
	Err      error
}

// addOrLeaveOut puts a scenario on its track. If that fails and the options allow it, it leaves it out.
func (p *planner) addOrLeaveOut(ctx context.Context, s *scenarios.Scenario) {
	if !p.options.LeaveOut {
		p.add(ctx, s)
		return
	}
	why := p.problemsOf(func() { p.add(ctx, s) })
	if why != nil {
		p.leftOut = append(p.leftOut, LeftOut{Scenario: s, Err: why})
	}
}

// leaveOutTracks leaves out the scenarios of tracks with an impossible path. Tracks are not shared yet, so each
// scenario goes through the whole path of its track.
func (p *planner) leaveOutTracks(ctx context.Context) {
	var kept []*Track
	for _, track := range p.order {
		for _, entry := range track.Entries {
			alone := *track
			alone.Entries = []*Entry{entry}
			if why := p.problemsOf(func() { p.checkPath(ctx, &alone) }); why != nil {
				p.leftOut = append(p.leftOut, LeftOut{Scenario: entry.Scenario, Err: why})
				continue
			}
			kept = append(kept, track)
			break
		}
	}
	p.order = kept
}

// problemsOf returns the problems that a check finds, without adding them to the plan's.
func (p *planner) problemsOf(check func()) error {
	before := p.problems
	p.problems = nil
	check()
	found := errors.Join(p.problems...)
	p.problems = before
	return found
}

// skippedOf are those that were left out only because the provider does not support them. They count as skipped.
func skippedOf(leftOut []LeftOut) (all []*Skipped) {
	for _, out := range leftOut {
		if Unsupported(out.Err) {
			all = append(all, &Skipped{Scenario: out.Scenario, Why: out.Err.Error()})
		}
	}
	return all
}

// unplannedTrack is the track of the scenarios that cannot be planned in a run's result. It has no cluster.
func unplannedTrack(leftOut []LeftOut) *reports.Track {
	track := &reports.Track{Name: "unplanned"}
	for _, out := range leftOut {
		if Unsupported(out.Err) {
			continue // it is skipped
		}
		report, _ := plannedScenario(out.Scenario, out.Scenario.Path())
		report.Status, report.Message = reports.Error, "it cannot be planned: "+out.Err.Error()
		track.Scenarios = append(track.Scenarios, report)
	}
	return track
}
