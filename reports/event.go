package reports

import "time"

// EventKind says what has happened.
type EventKind string

// The kinds of events, in the order in which they can happen to one thing.
const (
	RunStarted       EventKind = "runStarted"
	SetupStarted     EventKind = "setupStarted"
	SetupFinished    EventKind = "setupFinished"
	ScenarioStarted  EventKind = "scenarioStarted"
	StepStarted      EventKind = "stepStarted"
	StepAttempted    EventKind = "stepAttempted"
	StepFinished     EventKind = "stepFinished"
	ScenarioFinished EventKind = "scenarioFinished"
	RunInterrupted   EventKind = "runInterrupted"
	RunFinished      EventKind = "runFinished"
)

// Event is something that happened, with the state of the whole run directly after it. Nothing that an event points to
// changes later: an observer may keep it, and read it from any goroutine, but must not write to it.
type Event struct {
	// Kind of the event.
	Kind EventKind
	// At is when it happened.
	At time.Time
	// Run after the event. Track, Scenario and Step are the parts of the run that the event is about, or nil.
	Run      *Run
	Track    *Track
	Scenario *Scenario
	Step     *Step
}

// Observer receives everything that a Recorder records, one event at a time and in order.
type Observer interface {
	// Observe receives an event. It must be quick, and must not call the Recorder. An error does not stop the run; the
	// Recorder's Start and Finish return it.
	Observe(Event) error
}
