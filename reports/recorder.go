package reports

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Recorder records what happens in a run. It is safe for concurrent use.
//
// It is made from a plan with every track, scenario and step, so that each planned scenario is in the reports, whatever
// happens. It never changes the plan: the methods identify a track, scenario or step by its pointer in the plan, whose
// fields can be read at any time. Run returns the result. A step that is not in the plan is added when it starts.
//
// Impossible calls (a step that finishes twice, a scenario that is not in the plan) are a mistake in the program. The
// first record stands, nothing panics, and Finish returns an error that names the mistake.
type Recorder struct {
	clock     clock.PassiveClock
	observers []Observer

	mu  sync.Mutex
	run *Run
	planIndex
	over bool
	problems
}

// planIndex is the content of the plan, and the steps that were added to it.
type planIndex struct {
	// owners of steps (*Track, *Scenario) in the plan's order, and the handles of their steps.
	owners []any
	steps  map[any][]*Step
	// places and phases of owners, and of steps by their handle.
	places map[any]place
	phases map[any]phase
}

// problems are the errors of the recording.
type problems []error

// phase of a step or a scenario. It is separate from the times, since what never started can finish, as not run.
type phase int

const (
	waiting phase = iota
	running
	ended
)

// handle of a step: the plan's pointers to it and to the track or the scenario it belongs to.
type handle struct {
	owner any
	step  *Step
}

// Outcome is the result of a step.
type Outcome struct {
	Status Status
	// Message is the full text of what was expected and what was seen; for NotRun, why it did not run.
	Message string
	// Note tells a reader of a passed step, for example, that changes may have been missed.
	Note string
	// Evidence is what was seen.
	Evidence string
	// Request is the body that a write sent. It is kept if the step did not pass.
	Request string
	// Ended is the end of the step, if its result was only known later. Default: now.
	Ended time.Time
	// Waited and Crossing are the parts of the step's time that all scenarios of its track share; see Step.
	Waited, Crossing time.Duration
	// Problems of a step, each with its own status, message and evidence. They are not recorded. Default: the outcome is
	// the only problem.
	Problems []Outcome
}

// Each returns the problems of a step: none if it passed, otherwise at least one.
func (o Outcome) Each() []Outcome {
	switch {
	case o.Status == Passed:
		return nil
	case len(o.Problems) > 0:
		return o.Problems
	}
	return []Outcome{o}
}

// Several returns the problems if there is more than one. A single problem is what the whole outcome says.
func Several(problems []Outcome) []Outcome {
	if len(problems) < 2 {
		return nil
	}
	return problems
}

// Verdict is what the caller knows about a scenario in addition to its steps.
type Verdict struct {
	// Status of the scenario; "" for the status that follows from its steps. It can only be worse than that (an unexpected
	// success is Failed), or Known if a step failed.
	Status Status
	// Message is the reason. Default: the first line of the step that decided the status.
	Message string
	// KnownIssue is the reason of the known issues that occurred, with their links.
	KnownIssue string
	// KnownCovers are the requirements of the known issue, also if the scenario unexpectedly passed.
	KnownCovers []string
	// Artifacts are files in the report folder, relative to it. Folder contains them; see Scenario.
	Artifacts []string
	Folder    string
	// StateGates are the values that the scenario's gates had in the states that it went through.
	StateGates []StateGates
}

// NewRecorder returns a Recorder of the planned run. The plan must not be changed from then on.
func NewRecorder(plan *Run, clk clock.PassiveClock, observers ...Observer) *Recorder {
	r := &Recorder{
		clock: clk, observers: observers, run: copyPlan(plan),
		planIndex: planIndex{steps: map[any][]*Step{}, places: map[any]place{}, phases: map[any]phase{}},
	}
	if plan == nil {
		return r
	}
	for t, track := range present(plan.Tracks) {
		r.own(track, track.Setup, place{t, none, none})
		for s, scenario := range present(track.Scenarios) {
			r.own(scenario, scenario.Steps, place{t, s, none})
			if scenario.Status == Error { // it cannot be planned, so nothing else will end it
				r.phases[scenario] = ended
			}
		}
	}
	return r
}

func (p *planIndex) own(owner any, steps []*Step, at place) {
	p.owners = append(p.owners, owner)
	p.places[owner] = at
	p.steps[owner] = present(steps)
	for i, step := range p.steps[owner] {
		at.step = i
		p.places[handle{owner, step}] = at
	}
}

// Run returns the run as it is now. The result never changes, and must not be written to.
func (r *Recorder) Run() *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run
}

// Start begins the run. It returns the observers' errors, so that a report folder without write access is known before
// anything else is done.
func (r *Recorder) Start() error {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.run.Started.IsZero() {
		r.misuse("the run was started twice")
		return nil
	}
	before := len(r.problems)
	r.begin(now)
	return errors.Join(r.problems[before:]...)
}

// Interrupt records that the run was interrupted. What ends after that is recorded as usual.
func (r *Recorder) Interrupt() {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open("the run's interrupt", now) || r.run.Interrupted {
		return
	}
	r.run = shallow(r.run)
	r.run.Interrupted = true
	r.tell(Event{Kind: RunInterrupted, At: now})
}

// Finish ends the run: what has not ended is reported as not run. It returns the errors of the recording: reports that
// could not be written, and mistakes in the program.
func (r *Recorder) Finish() error {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open("the run's end", now) {
		r.closeAll(now)
		r.run = shallow(r.run)
		r.run.Finished = now
		r.over = true
		r.tell(Event{Kind: RunFinished, At: now})
	}
	return errors.Join(r.problems...)
}

// open reports whether anything can still be recorded, and begins the run if it has not begun.
func (r *Recorder) open(what string, now time.Time) bool {
	if r.over {
		r.misuse("%s was recorded after the run had finished", what)
		return false
	}
	r.begin(now)
	return true
}

func (r *Recorder) begin(now time.Time) {
	if !r.run.Started.IsZero() {
		return
	}
	r.run = shallow(r.run)
	r.run.Started = now
	r.tell(Event{Kind: RunStarted, At: now})
}

func (r *Recorder) tell(e Event) {
	e.Run = r.run
	for _, o := range r.observers {
		if err := o.Observe(e); err != nil {
			r.note(err)
		}
	}
}

func (p *problems) misuse(format string, args ...any) {
	p.note(fmt.Errorf("recording the run: "+format+" (a mistake in the program; what was recorded first stands)",
		args...))
}

// note keeps an error for Finish. Equal errors, such as those of a disk that stays full, are kept once.
func (p *problems) note(err error) {
	same := func(known error) bool { return known.Error() == err.Error() }
	if !slices.ContainsFunc(*p, same) {
		*p = append(*p, err)
	}
}
