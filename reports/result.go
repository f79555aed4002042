// Package reports holds the result of a run (run > track > scenario > step > attempt) and the writers of its reports.
package reports

import "time"

// Status of a step or a scenario.
type Status string

// The statuses. Only Passed and Known count as success; Error is what could not be decided.
const (
	// NotRun: it was not reached, because of an earlier failure or an interrupt.
	NotRun Status = "notRun"
	// Passed: all that was expected was seen.
	Passed Status = "passed"
	// Failed: something else than what was expected was seen.
	Failed Status = "failed"
	// Error: the cluster or the harness failed, so that nothing can be said.
	Error Status = "error"
	// Known: it failed just as a known issue says.
	Known Status = "known"
	// Skipped: it was left out on purpose, because the provider does not support what it needs. It is no success, and
	// breaks no build. Only scenarios are.
	Skipped Status = "skipped"
)

// OrNotRun is the status, or NotRun for one that is unknown.
func (s Status) OrNotRun() Status {
	switch s {
	case Passed, Failed, Error, Known, Skipped:
		return s
	default:
		return NotRun
	}
}

// Statuses lists them all.
func Statuses() []Status { return []Status{Passed, Failed, Error, Known, Skipped, NotRun} }

// Cleanup is the verb of a step that removes what a scenario made. It comes after the scenario's own steps.
const Cleanup = "cleanup"

// Format is the version of run.json that this program writes. It grows when a reader must be changed; what is only
// added does not change it.
//
//   - 1: runs until November 2026, which have no number.
//   - 2: has format, command, program, sources, processes and history.
const Format = 2

// Head is how the files begin in which results are kept: run.json, matrix.json, upgrade.json and explore.json.
type Head struct {
	// Format is the version of this file; none is 1.
	Format int `json:"format,omitempty"`
	// Command that makes the run again, and Program is the version of rehearse that made it.
	Command string `json:"command,omitempty"`
	Program string `json:"program,omitempty"`
	// Started and Finished in wall-clock time; Finished is zero while the run goes on.
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
}

// Run is the result of one invocation. It is run.json.
type Run struct {
	Head

	// Provider of the clusters: local, kind, existing.
	Provider string `json:"provider"`
	// Interrupted says that the run was interrupted (Ctrl-C) before its end.
	Interrupted bool `json:"interrupted,omitempty"`
	// Shard says which part of a run this is; none where it is all of it.
	Shard *Shard `json:"shard,omitempty"`
	// Tracks in the order in which they were planned.
	Tracks []*Track `json:"tracks"`
	// Requirements of the suites that were run, where they are known.
	Requirements []Requirement `json:"requirements,omitempty"`
	// Flips are the feature gates whose defaults differ between a version of the run and the next newer one, where the
	// lists of both are known.
	Flips []VersionFlips `json:"flips,omitempty"`
	// Sources are the files of the scenarios, whole, by their names.
	Sources map[string]string `json:"sources,omitempty"`
}

// Shard is one of several parts of a run.
type Shard struct {
	// Number of the part, from 1, and how many parts there are.
	Number int `json:"number"`
	Of     int `json:"of"`
	// Plan is a checksum of what all parts together do. It is the same in each of them.
	Plan string `json:"plan"`
}

// VersionFlips are the feature gates that change by themselves from one version to another.
type VersionFlips struct {
	// From and To are versions of Kubernetes.
	From string `json:"from"`
	To   string `json:"to"`
	// Gates with what becomes of them: "SomeGate turns on".
	Gates []string `json:"gates"`
}

// Requirement is one rule of a specification.
type Requirement struct {
	// ID that scenarios name in covers.
	ID string `json:"id"`
	// Level of the requirement: core or extended.
	Level string `json:"level,omitempty"`
	// Statement is the rule in a sentence, and Source where the specification says so.
	Statement string `json:"statement"`
	Source    string `json:"source,omitempty"`
}

// Track is the result of scenarios that shared a cluster.
type Track struct {
	// Name of the track and of its cluster.
	Name string `json:"name"`
	// Path is the sequence of states, each in one line.
	Path []string `json:"path"`
	// Setup holds what was done for the cluster itself: it was created (or one that exists was used), each transition, and
	// it was deleted (or left).
	Setup []*Step `json:"setup,omitempty"`
	// Scenarios in the order in which they were planned.
	Scenarios []*Scenario `json:"scenarios"`
	// Processes of the cluster's components, each start of one, in order; none where the provider's clusters do not tell
	// them.
	Processes []Process `json:"processes,omitempty"`
}

// Process is one start of a component of a cluster.
type Process struct {
	// Component by its name: kube-apiserver, etcd.
	Component string `json:"component"`
	// Version that was started; "" for a part of this program.
	Version string `json:"version,omitempty"`
	// Started is when the process began, Ready when it first said that it was, and Ended when it was gone. Ready and Ended
	// may not have come.
	Started time.Time `json:"started"`
	Ready   time.Time `json:"ready,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Unasked says that the process ended by itself.
	Unasked bool `json:"unasked,omitempty"`
}

// Scenario is the result of one scenario, or of one row of its table.
type Scenario struct {
	// Name of the scenario, with its row: name [row].
	Name string `json:"name"`
	// System is the scenario's label of that name: the JUnit suite it is in.
	System string `json:"system,omitempty"`
	// Description is the scenario's own.
	Description string `json:"description,omitempty"`
	// File and Line of the scenario.
	File string `json:"file"`
	Line int    `json:"line"`
	// Labels of the scenario.
	Labels map[string]string `json:"labels,omitempty"`
	// Covers lists the requirements tested.
	Covers []string `json:"covers,omitempty"`
	// Namespace the scenario had.
	Namespace string `json:"namespace,omitempty"`
	// Status of the scenario, and in Message why; its steps have the whole of it.
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	// Runs are what came of the scenario in each of several runs, where they differ. The rest is that of the first that
	// was no success.
	Runs []Status `json:"runs,omitempty"`
	// KnownIssue is the reason of the known issue, with its link, when Status is Known, or Failed because of other steps
	// as well.
	KnownIssue string `json:"knownIssue,omitempty"`
	// KnownCovers are the requirements of Covers that the known issue is about, also where it should have happened and did
	// not (then Status is Failed, though every step passed).
	KnownCovers []string `json:"knownCovers,omitempty"`
	// Versions and Gates that the scenario's path goes through, for a report's properties.
	Versions []string `json:"versions,omitempty"`
	Gates    []string `json:"gates,omitempty"`
	// StateGates are the values that the gates had in the states that were reached, each with what proves it.
	StateGates []StateGates `json:"stateGates,omitempty"`
	// Started and Finished in wall-clock time: from its beginning to the end of its last step. Cleaning up comes after.
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Took is the scenario's own time: without transitions, and without waiting for other scenarios.
	Took Seconds `json:"duration,omitzero"`
	// Steps, one for each that the scenario has, also those that did not run. Several can have failed.
	Steps []*Step `json:"steps"`
	// Artifacts are files in the report folder, relative to it.
	Artifacts []string `json:"artifacts,omitempty"`
	// Folder has the artifacts. It is relative to where the run was started, or absolute.
	Folder string `json:"folder,omitempty"`
}

// Step is the result of one step, or of one row of its table.
type Step struct {
	// Name of the step, with its row. A setup step's name is what is reached ("1.35.4 SomeGate=true"), without the verb.
	Name string `json:"name"`
	// Verb of the step: create, transition, eventually, ...; a setup step's is create, transition or delete, and for a
	// cluster that is somebody else's using and leaving.
	Verb string `json:"verb"`
	// Change of a setup step is what it changes, for a person: "1.34.4 → 1.35.4, SomeGate on". Direction is where a
	// transition leads: up, down, or change where the version stays. Called are the names that the scenarios give it.
	Change    string   `json:"change,omitempty"`
	Direction string   `json:"direction,omitempty"`
	Called    []string `json:"called,omitempty"`
	// File, Line and Column of the step.
	Position string `json:"position,omitempty"`
	// Covers lists those of the scenario's requirements that this step decides.
	Covers []string `json:"covers,omitempty"`
	// Status of the step. Message says in full what was wanted and what was seen.
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	// Note is what a reader of a passed step should know, in one line.
	Note string `json:"note,omitempty"`
	// State of the cluster when the step began, in one line.
	State string `json:"state,omitempty"`
	// Started and Finished in wall-clock time.
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Took is the step's own time: Finished minus Started, without Waited and Crossing.
	Took Seconds `json:"duration,omitzero"`
	// Waited is how long the step waited for the other scenarios of its track before a transition.
	Waited Seconds `json:"waited,omitzero"`
	// Crossing is the time of the transition, which all scenarios of a track share. It is counted once, as the track's.
	Crossing Seconds `json:"transition,omitzero"`
	// Attempts that were made, when more than one: what was unknown and tried again.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Evidence is what was seen: the refusal's status, the object, the answers.
	Evidence string `json:"evidence,omitempty"`
	// Request is the body of what a write that did not pass sent, in YAML, its expressions evaluated.
	Request string `json:"request,omitempty"`
}

// Attempt is one try of a step.
type Attempt struct {
	// At is when it ended, Outcome what came of it.
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
}
