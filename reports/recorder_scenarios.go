package reports

import "time"

// StartScenario records that a scenario begins, in that namespace ("" if it has none yet).
func (r *Recorder) StartScenario(scenario *Scenario, namespace string) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known(scenario, now) {
		return
	}
	if r.phases[scenario] != waiting {
		r.misuse("scenario %q was started twice", scenario.Name)
		return
	}
	r.startScenario(scenario, namespace, now)
}

// FinishScenario ends a scenario. Its status follows from its steps and the verdict: a scenario passes only when it has
// steps and all of them passed. A step that is still running counts as not run.
func (r *Recorder) FinishScenario(scenario *Scenario, verdict Verdict) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known(scenario, now) {
		return
	}
	if r.phases[scenario] == ended {
		r.misuse("scenario %q was finished twice", scenario.Name)
		return
	}
	track, result := r.endScenario(scenario, verdict, now)
	r.tell(Event{Kind: ScenarioFinished, At: now, Track: track, Scenario: result})
}

// known reports whether the scenario is in the plan and can still be recorded.
func (r *Recorder) known(scenario *Scenario, now time.Time) bool {
	if scenario == nil {
		r.misuse("a scenario that is nil")
		return false
	}
	if _, planned := r.places[scenario]; !planned {
		r.misuse("scenario %q, which is not of the plan", scenario.Name)
		return false
	}
	return r.open("scenario "+scenario.Name, now)
}

func (r *Recorder) startScenario(handle *Scenario, namespace string, now time.Time) {
	run, track, scenario, _ := fork(r.run, r.places[handle])
	scenario.Started = now
	if namespace != "" {
		scenario.Namespace = namespace
	}
	r.phases[handle] = running
	r.run = run
	r.tell(Event{Kind: ScenarioStarted, At: now, Track: track, Scenario: scenario})
}

func (r *Recorder) endScenario(scenario *Scenario, verdict Verdict, now time.Time) (*Track, *Scenario) {
	r.closeSteps(scenario, now)
	run, track, s, _ := fork(r.run, r.places[scenario])
	status, remark := judge(s.Steps, verdict)
	s.Status, s.Message, s.Artifacts, s.Folder = status, verdict.Message, verdict.Artifacts, verdict.Folder
	s.StateGates = verdict.StateGates
	if remark != "" {
		r.misuse("scenario %q: %s", s.Name, remark)
	}
	if status == Known || status == Failed {
		s.KnownIssue = verdict.KnownIssue
	}
	if status == Known || status == Failed {
		s.KnownCovers = verdict.KnownCovers
	}
	switch decisive := DecisiveStep(s); {
	case s.Message != "":
	case decisive != nil:
		s.Message = DecisiveLine(s, decisive)
	case remark != "":
		s.Message = remark
	case status == NotRun:
		s.Message = WhyNotRun(run, track, s)
	}
	if r.phases[scenario] == running {
		s.Finished = stepsEnded(s, now)
		s.Took = Seconds(s.Duration())
	}
	r.phases[scenario] = ended
	r.run = run
	return track, s
}

// stepsEnded is when the last step of a scenario ended, without the cleanup; now if no step has run.
func stepsEnded(s *Scenario, now time.Time) time.Time {
	var last time.Time
	for _, step := range s.Steps {
		if step.Verb != Cleanup && step.Finished.After(last) {
			last = step.Finished
		}
	}
	if last.IsZero() {
		return now
	}
	return last
}

// closeSteps ends the steps of an owner that are still running: they count as not run.
func (r *Recorder) closeSteps(owner any, now time.Time) {
	for _, planned := range r.steps[owner] {
		key := handle{owner, planned}
		if r.phases[key] != running {
			continue
		}
		run, _, _, step := fork(r.run, r.places[key])
		step.Finished, step.Message = now, didNotFinish(run)
		step.Took = Seconds(step.Duration())
		r.phases[key] = ended
		r.run = run
	}
}

// closeAll ends everything that has not ended when the run ends. A scenario with a failed step has failed; one whose
// steps have only passed so far is not run.
func (r *Recorder) closeAll(now time.Time) {
	for _, owner := range r.owners {
		switch o := owner.(type) {
		case *Track:
			r.closeSteps(o, now)
		case *Scenario:
			if r.phases[o] != ended {
				r.endScenario(o, Verdict{Status: NotRun}, now)
			}
		}
	}
}
