package reports

import (
	"slices"
	"time"
)

// place is where something is in a run; none (-1) where it is not that deep. A setup step is a step without a scenario.
type place struct{ track, scenario, step int }

const none = -1

// copyPlan returns a run of its own in which nothing has run yet, whatever the plan says.
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
			scenario.Status, scenario.Steps = NotRun, copySteps(s.Steps)
			track.Scenarios = append(track.Scenarios, scenario)
		}
		run.Tracks = append(run.Tracks, track)
	}
	return run
}

// present leaves out what is nil.
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

// fork returns a new version of the run in which what is at the place, and all that holds it, is a copy that may be
// changed. Everything else is shared with the old version, so that a version costs little more than its lists. Versions
// are made one from the last, so that a list may also be appended to: no older version sees that far.
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
