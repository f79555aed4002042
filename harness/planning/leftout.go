package planning

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// LeftOut is a scenario that cannot be planned. Err says why, with its places in the scenario's file.
type LeftOut struct {
	Scenario *scenarios.Scenario
	Err      error
}

// addOrLeaveOut puts a scenario on its track, or leaves it out where it cannot be planned and the options say so.
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

// leaveOutTracks leaves out the scenarios of tracks whose path cannot be gone. No track is shared yet by scenarios that
// leave before others do, so that each of its scenarios goes the whole path.
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

// problemsOf are the problems that a check finds. They are not the plan's.
func (p *planner) problemsOf(check func()) error {
	before := p.problems
	p.problems = nil
	check()
	found := errors.Join(p.problems...)
	p.problems = before
	return found
}
