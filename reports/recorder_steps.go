package reports

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// StartTrackStep records that work on the cluster itself begins: its creation, a transition, its deletion.
func (r *Recorder) StartTrackStep(track *Track, step *Step) {
	r.startStep(track, step, "", SetupStarted)
}

// FinishTrackStep records how work on the cluster itself ended.
func (r *Recorder) FinishTrackStep(track *Track, step *Step, outcome Outcome) {
	r.finishStep(track, step, outcome, SetupFinished)
}

// NoteProcesses records all processes of a track's cluster so far. The reports contain them from the next event on.
func (r *Recorder) NoteProcesses(track *Track, processes []Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, planned := r.places[track]
	if r.over || !planned {
		return
	}
	run, fresh, _, _ := fork(r.run, at)
	fresh.Processes = processes
	r.run = run
}

// StartStep records that a step of a scenario begins, on a cluster in the given state ("" keeps the planned one).
func (r *Recorder) StartStep(scenario *Scenario, step *Step, state string) {
	r.startStep(scenario, step, state, StepStarted)
}

// FinishStep records how a step of a scenario ended. A step that never started can only end as not run, failed or
// error.
func (r *Recorder) FinishStep(scenario *Scenario, step *Step, outcome Outcome) {
	r.finishStep(scenario, step, outcome, StepFinished)
}

// AttemptStep records an unsuccessful attempt of a running step, which is then retried.
func (r *Recorder) AttemptStep(scenario *Scenario, step *Step, outcome string) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	key := handle{scenario, step}
	if !r.usable(scenario, step, now) {
		return
	}
	if r.phases[key] != running {
		r.misuse("an attempt of %s, which is not running", describe(scenario, step))
		return
	}
	change := func(s *Step) { s.Attempts = append(s.Attempts, Attempt{At: now, Outcome: outcome}) }
	r.changeStep(key, now, StepAttempted, change)
}

func (r *Recorder) startStep(owner any, step *Step, state string, kind EventKind) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.usable(owner, step, now) {
		return
	}
	key := handle{owner, step}
	if r.phases[key] != waiting {
		r.misuse("%s was started twice", describe(owner, step))
		return
	}
	if _, planned := r.places[key]; !planned {
		r.addStep(key)
	}
	r.phases[key] = running
	r.changeStep(key, now, kind, func(s *Step) {
		s.Started = now
		if state != "" {
			s.State = state
		}
	})
}

func (r *Recorder) finishStep(owner any, step *Step, outcome Outcome, kind EventKind) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.usable(owner, step, now) {
		return
	}
	key := handle{owner, step}
	was := r.phases[key]
	switch {
	case was == ended:
		r.misuse("%s was finished twice", describe(owner, step))
		return
	case was == waiting && (outcome.Status == Passed || outcome.Status == Known):
		r.misuse("%s is said to be %s, but was never started", describe(owner, step), outcome.Status)
		return
	}
	if _, planned := r.places[key]; !planned {
		r.addStep(key)
	}
	if !slices.Contains([]Status{NotRun, Passed, Failed, Error, Known}, outcome.Status) {
		r.misuse("%s was finished with the status %q", describe(owner, step), outcome.Status)
		outcome.Status = Error
	}
	r.phases[key] = ended
	r.changeStep(key, now, kind, func(s *Step) {
		s.Status, s.Message, s.Note, s.Evidence = outcome.Status, outcome.Message, outcome.Note, outcome.Evidence
		if s.Request = outcome.Request; s.Status == Passed || s.Status == NotRun {
			s.Request = ""
		}
		if was == running {
			s.Finished = cmp.Or(outcome.Ended, now)
			s.Waited, s.Crossing = Seconds(outcome.Waited), Seconds(outcome.Crossing)
			s.Took = Seconds(s.Duration())
		}
	})
}

// usable reports whether a step of that owner can be recorded.
func (r *Recorder) usable(owner any, step *Step, now time.Time) bool {
	if step == nil {
		r.misuse("a step that is nil")
		return false
	}
	if !r.open(describe(owner, step), now) {
		return false
	}
	if _, planned := r.places[owner]; !planned {
		r.misuse("%s, which is not of the plan", describe(owner, step))
		return false
	}
	scenario, ok := owner.(*Scenario)
	if !ok {
		return true
	}
	switch r.phases[owner] {
	case waiting:
		r.misuse("%s, whose scenario was never started", describe(owner, step))
		r.startScenario(scenario, "", now)
	case ended:
		r.misuse("%s, whose scenario had finished", describe(owner, step))
		return false
	case running:
	}
	return true
}

// addStep appends a step that was not planned to its owner's steps.
func (r *Recorder) addStep(key handle) {
	at := r.places[key.owner]
	run, track, scenario, _ := fork(r.run, at)
	steps := &track.Setup
	if scenario != nil {
		steps = &scenario.Steps
	}
	fresh := shallow(key.step)
	fresh.Status = NotRun
	at.step = len(*steps)
	*steps = append(*steps, fresh)
	r.run, r.places[key] = run, at
	r.steps[key.owner] = append(r.steps[key.owner], key.step)
}

func (r *Recorder) changeStep(key handle, now time.Time, kind EventKind, change func(*Step)) {
	run, track, scenario, step := fork(r.run, r.places[key])
	change(step)
	r.run = run
	r.tell(Event{Kind: kind, At: now, Track: track, Scenario: scenario, Step: step})
}

// describe names a step for an error.
func describe(owner any, step *Step) string {
	switch o := owner.(type) {
	case *Scenario:
		if o != nil {
			return fmt.Sprintf("step %q of scenario %q", stepTitle(step), o.Name)
		}
	case *Track:
		if o != nil {
			return fmt.Sprintf("setup step %q of track %q", stepTitle(step), o.Name)
		}
	}
	return fmt.Sprintf("step %q of nothing", stepTitle(step))
}
