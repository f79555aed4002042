// Package reports contains the result of a run (run > track > scenario > step > attempt) and the writers of its
// reports.
package reports

import "time"

// Status of a step or a scenario.
type Status string

// The statuses. Only Passed and Known count as success. Error means that there is no verdict.
const (
	// NotRun: it did not run, or not to its end, because of an earlier failure or an interrupt.
	NotRun Status = "notRun"
	// Passed: everything that was expected was observed.
	Passed Status = "passed"
	// Failed: what was observed differs from what was expected.
	Failed Status = "failed"
	// Error: the cluster or the harness failed, so there is no verdict.
	Error Status = "error"
	// Known: it failed exactly as a known issue describes.
	Known Status = "known"
	// Skipped: it was left out on purpose, because the provider does not support what it needs. It does not count as
	// success, but a run with skipped scenarios can still succeed. Only scenarios can be skipped, not steps.
	Skipped Status = "skipped"
)

// OrNotRun returns the status, or NotRun if the status is unknown.
func (s Status) OrNotRun() Status {
	switch s {
	case Passed, Failed, Error, Known, Skipped:
		return s
	default:
		return NotRun
	}
}

// Statuses lists all statuses.
func Statuses() []Status { return []Status{Passed, Failed, Error, Known, Skipped, NotRun} }

// Cleanup is the verb of the step that removes what a scenario created. This step follows the scenario's own steps.
const Cleanup = "cleanup"

// Format is the version of run.json that this program writes. It increases only if readers must change. An added field
// does not increase it.
//
//   - 1: files written until November 2026. They have no field format.
//   - 2: adds format, command, program, sources and processes.
const Format = 2

// Head is the beginning of every file that contains results: run.json, matrix.json, upgrade.json, explore.json and
// faults.json.
type Head struct {
	// Format is the version of this file; without it, the version is 1.
	Format int `json:"format,omitempty"`
	// Command that repeats the run, and Program is the version of rehearse that ran it.
	Command string `json:"command,omitempty"`
	Program string `json:"program,omitempty"`
	// Build is a digest of the executable, if Program does not identify it: a build without a commit, or with changes.
	Build string `json:"build,omitempty"`
	// Started and Finished in wall-clock time; Finished is zero until the run ends.
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
}

// Run is the result of one invocation. It is the content of run.json.
type Run struct {
	Head

	// Provider of the clusters: local, kind, existing.
	Provider string `json:"provider"`
	// Interrupted says that the run was interrupted (Ctrl-C) before its end.
	Interrupted bool `json:"interrupted,omitempty"`
	// Runs is how many runs of one plan this combines (--repeat); missing if it is one run.
	Runs int `json:"runs,omitempty"`
	// Shard is the part of a run that this is; missing if this is the whole run.
	Shard *Shard `json:"shard,omitempty"`
	// Tracks in planned order.
	Tracks []*Track `json:"tracks"`
	// Requirements of the suites that were run, if known.
	Requirements []Requirement `json:"requirements,omitempty"`
	// Flips are the feature gates whose defaults differ between a version of the run and the next newer one, if both
	// lists are known.
	Flips []VersionFlips `json:"flips,omitempty"`
	// Sources are the complete files of the scenarios, by name.
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

// VersionFlips are the feature gates whose defaults change from one version to another.
type VersionFlips struct {
	// From and To are versions of Kubernetes.
	From string `json:"from"`
	To   string `json:"to"`
	// Gates with their change: "SomeGate turns on".
	Gates []string `json:"gates"`
}

// Requirement is one rule of a specification.
type Requirement struct {
	// ID that scenarios name in covers.
	ID string `json:"id"`
	// Level of the requirement: core or extended.
	Level string `json:"level,omitempty"`
	// Statement is the rule in one sentence, and Source is its place in the specification.
	Statement string `json:"statement"`
	Source    string `json:"source,omitempty"`
}

// Track is the result of scenarios that shared a cluster.
type Track struct {
	// Name of the track and of its cluster.
	Name string `json:"name"`
	// Path is the sequence of states, each in one line.
	Path []string `json:"path"`
	// Setup contains the actions on the cluster itself: its creation (or the use of an existing one), each transition,
	// and its deletion (or leaving it).
	Setup []*Step `json:"setup,omitempty"`
	// Scenarios in planned order.
	Scenarios []*Scenario `json:"scenarios"`
	// Processes of the cluster's components, one for each start, in order; empty if the provider's clusters do not
	// report them.
	Processes []Process `json:"processes,omitempty"`
	// RunStarted and RunFinished are the times of the run that the track is from, if the file combines several runs.
	RunStarted  time.Time `json:"runStarted,omitzero"`
	RunFinished time.Time `json:"runFinished,omitzero"`
}

// Process is one start of a component of a cluster.
type Process struct {
	// Component by its name: kube-apiserver, etcd.
	Component string `json:"component"`
	// Version that was started; "" for a part of rehearse itself.
	Version string `json:"version,omitempty"`
	// Started is when the process started, Ready when it was first ready, and Ended when it exited. Ready and Ended may
	// be missing.
	Started time.Time `json:"started"`
	Ready   time.Time `json:"ready,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Unasked says that the process exited unexpectedly.
	Unasked bool `json:"unasked,omitempty"`
}

// Scenario is the result of one scenario, or of one row of its table.
type Scenario struct {
	// Name of the scenario, with its row: name [row].
	Name string `json:"name"`
	// System is the scenario's label system, the name of its JUnit suite.
	System string `json:"system,omitempty"`
	// Description of the scenario.
	Description string `json:"description,omitempty"`
	// File and Line of the scenario.
	File string `json:"file"`
	Line int    `json:"line"`
	// Labels of the scenario.
	Labels map[string]string `json:"labels,omitempty"`
	// Covers lists the requirements tested.
	Covers []string `json:"covers,omitempty"`
	// Namespace of the scenario.
	Namespace string `json:"namespace,omitempty"`
	// Status of the scenario, with the reason in Message; its steps have the details.
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	// Runs are the results of the scenario in several runs, if they differ. The other fields are those of the first run
	// that did not pass.
	Runs []Status `json:"runs,omitempty"`
	// KnownIssue is the reason of the known issue, with its link, when Status is Known, or Failed because of other
	// problems as well.
	KnownIssue string `json:"knownIssue,omitempty"`
	// KnownCovers are the requirements of Covers that the known issue concerns, also if it was expected but did not
	// occur (then Status is Failed, although every step passed).
	KnownCovers []string `json:"knownCovers,omitempty"`
	// Versions and Gates of the scenario's path, for a report's properties.
	Versions []string `json:"versions,omitempty"`
	Gates    []string `json:"gates,omitempty"`
	// StateGates are the values of the gates in the states that were reached, each with its proof.
	StateGates []StateGates `json:"stateGates,omitempty"`
	// Started and Finished in wall-clock time: from its beginning to the end of its last step, without the cleanup.
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Took is the scenario's own time: without transitions, and without waiting for other scenarios.
	Took Seconds `json:"duration,omitzero"`
	// Steps of the scenario, including those that did not run. Several can have failed.
	Steps []*Step `json:"steps"`
	// Artifacts are files in the report folder, relative to it.
	Artifacts []string `json:"artifacts,omitempty"`
	// Folder contains the artifacts. It is relative to the working directory of the run, or absolute.
	Folder string `json:"folder,omitempty"`
}

// Step is the result of one step, or of one row of its table.
type Step struct {
	// Name of the step, with its row. The name of a setup step is the state that it reaches ("1.35.4 SomeGate=true"),
	// without the verb.
	Name string `json:"name"`
	// Verb of the step: create, transition, eventually, ...; a setup step's verb is create, transition or delete, or,
	// for an existing cluster, using and leaving.
	Verb string `json:"verb"`
	// Change describes what a setup step changes: "1.34.4 → 1.35.4, SomeGate on". Direction of a transition is up,
	// down, or change if the version stays. Called are the names that the scenarios give it.
	Change    string   `json:"change,omitempty"`
	Direction string   `json:"direction,omitempty"`
	Called    []string `json:"called,omitempty"`
	// File, Line and Column of the step.
	Position string `json:"position,omitempty"`
	// Covers lists those of the scenario's requirements that this step decides.
	Covers []string `json:"covers,omitempty"`
	// Writes says whether the step, or a load during it, may write objects: it sends writes, runs a program, or restarts
	// something. For a transition, only its loads count. Missing in older files, in setup steps and in the cleanup.
	Writes *bool `json:"writes,omitempty"`
	// Status of the step. Message describes in full what was expected and what was seen.
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	// Note is one line that the reader of a passed step should know.
	Note string `json:"note,omitempty"`
	// State of the cluster when the step began, in one line.
	State string `json:"state,omitempty"`
	// Started and Finished in wall-clock time.
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Took is the step's own time: Finished minus Started, without Waited and Crossing.
	Took Seconds `json:"duration,omitzero"`
	// Waited is the time that the step waited for the other scenarios of its track before a transition.
	Waited Seconds `json:"waited,omitzero"`
	// Crossing is the time of the transition, which all scenarios of a track share. It is counted once, for the track.
	Crossing Seconds `json:"transition,omitzero"`
	// Attempts, if there was more than one: unknown results are retried.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Evidence is what was seen: the status of the rejection, the object, the answers.
	Evidence string `json:"evidence,omitempty"`
	// Request is the body that a write sent, in YAML with evaluated expressions, if the write did not pass.
	Request string `json:"request,omitempty"`
}

// Attempt is one attempt of a step.
type Attempt struct {
	// At is when it ended, and Outcome is its result.
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
}
