package reports

import (
	"slices"
	"time"
)

// place is a position in a run; none (-1) for a missing level. A setup step is a step without a scenario.
type place struct{ track, scenario, step int }

const none = -1

// copyPlan returns a copy of the plan in which nothing has run yet. Of its statuses, only the errors of scenarios that
// cannot be planned stay.
func copyPlan(plan *Run) *Run {
	run := &Run{Head: Head{Format: Format}, Tracks: []*Track{}}
	if plan == nil {
		return run
	}
	*run = *plan
	run.Format, run.Started, run.Finished, run.Interrupted = Format, time.Time{}, time.Time{}, false
	run.Tracks = make([]*Track, 0, len(plan.Tracks))
	for _, planned := range present(plan.Tracks) {
		track := shallow(planned)
		track.Setup = copySteps(planned.Setup)
		track.Scenarios = make([]*Scenario, 0, len(planned.Scenarios))
		for _, s := range present(planned.Scenarios) {
			scenario := shallow(s)
			scenario.Steps = copySteps(s.Steps)
			if s.Status != Error {
				scenario.Status = NotRun
			}
			track.Scenarios = append(track.Scenarios, scenario)
		}
		run.Tracks = append(run.Tracks, track)
	}
	return run
}

// present omits nil elements.
func present[T any](list []*T) []*T {
	return slices.DeleteFunc(slices.Clone(list), func(e *T) bool { return e == nil })
}

func copySteps(planned []*Step) []*Step {
	steps := make([]*Step, 0, len(planned))
	for _, p := range present(planned) {
		step := shallow(p)
		step.Status = NotRun
		steps = append(steps, step)
	}
	return steps
}

// fork returns a new version of the run. The element at the place, and everything that contains it, are copies that
// may be changed. Everything else is shared with the old version, so that a version costs little more than its lists.
// Each version is made from the last one, so a list may also be appended to: older versions do not see the new
// element.
func fork(old *Run, at place) (run *Run, track *Track, scenario *Scenario, step *Step) {
	run = shallow(old)
	if at.track == none {
		return run, nil, nil, nil
	}
	track = forkElement(&run.Tracks, at.track)
	steps := &track.Setup
	if at.scenario != none {
		scenario = forkElement(&track.Scenarios, at.scenario)
		steps = &scenario.Steps
	}
	if at.step != none {
		step = forkElement(steps, at.step)
	}
	return run, track, scenario, step
}

func forkElement[T any](list *[]*T, i int) *T {
	*list = slices.Clone(*list)
	(*list)[i] = shallow((*list)[i])
	return (*list)[i]
}

func shallow[T any](old *T) *T {
	fresh := *old
	return &fresh
}
