// Package explorations contains the result of an exploration (findings about an upgrade, a rollback or a feature gate)
// and the writers of its reports.
package explorations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Sort of a finding.
type Sort string

// The sorts, worst first.
const (
	// Defect: an object is stuck, unreadable, moved by itself, or lost for good.
	Defect Sort = "defect"
	// Hazard: it follows from the design of Kubernetes, such as a field that an older version drops. Users must know
	// about it, but it will not be fixed.
	Hazard Sort = "hazard"
)

// sorts lists them, worst first.
func sorts() []Sort { return []Sort{Defect, Hazard} }

// Proof says whether a finding's own scenario reproduced it, in a cluster created for it.
type Proof string

// The proofs.
const (
	Shown    Proof = "shown again"
	NotShown Proof = "not shown again"
	NotTried Proof = "not tried again"
)

// Format is the version of explore.json that this program writes.
const Format = 1

// Report is the result of one exploration. It is explore.json.
type Report struct {
	reports.Head

	// Interrupted says that the exploration was stopped before its end. Late says that its time was up.
	Interrupted bool `json:"interrupted,omitempty"`
	Late        bool `json:"late,omitempty"`
	// Failure is the error that ended the exploration. Unjudged has it, too.
	Failure string `json:"failure,omitempty"`
	// Shard says which part of an exploration this is; nil for all of it. Idle says that the part has no kinds, because
	// there are fewer kinds than shards.
	Shard *reports.Shard `json:"shard,omitempty"`
	Idle  bool           `json:"idle,omitempty"`
	// Seed of the random choices.
	Seed uint64 `json:"seed"`
	// Path of states, each in one line, with the seconds that its exploration took.
	Path []*State `json:"path"`
	// Kinds with their fields.
	Kinds []*Kind `json:"kinds"`
	// Tried is how many different objects were tried, and Crossed how many of them crossed the path.
	Tried   int `json:"tried"`
	Crossed int `json:"crossed"`
	// DryRuns is how many dry runs made the objects, and PerSecond how many there were per second.
	DryRuns   int64   `json:"dryRuns"`
	PerSecond float64 `json:"dryRunsPerSecond"`
	// Gates tells which fields and values depend on which feature gate.
	Gates []*Gate `json:"gates,omitempty"`
	// Matrix of kinds and states: the results for the objects that crossed the path together.
	Matrix []*upgrades.Row `json:"matrix,omitempty"`
	// Findings, worst first. Dropped are those that their own scenarios did not reproduce.
	Findings []*Finding `json:"findings"`
	Dropped  []*Finding `json:"dropped,omitempty"`
	// Unjudged is what could not be judged. Untried is what was not tried, and why.
	Unjudged []string `json:"unjudged,omitempty"`
	Untried  []string `json:"untried,omitempty"`
	// Notes are facts about the exploration that a reader must know.
	Notes []string `json:"notes,omitempty"`

	// crossings is how often objects crossed the path together.
	crossings int
}

// State is one state of the path.
type State struct {
	Name string `json:"name"`
	// Reached says that the objects were surveyed there.
	Reached bool    `json:"reached"`
	Seconds float64 `json:"seconds"`
	// Accepted is how many of the tried objects the state accepts.
	Accepted int `json:"accepted"`
	// Way to it. Flips are the gates whose value differs from the state before, if known.
	Way   string   `json:"way,omitempty"`
	Flips []string `json:"flips,omitempty"`
}

// Kind is one kind in one version, with its fields over all states.
type Kind struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
	// Fields is the number of its fields, and Covered the number of those that an accepted object has.
	Fields  int `json:"fields"`
	Covered int `json:"covered"`
	// Dropped is the number of fields that no client can set: their gates are off, or they are the API server's.
	Dropped int `json:"dropped,omitempty"`
	// Rest are the other fields, with the message of the last rejection.
	Rest []Rest `json:"rest,omitempty"`
}

// Rest is a field that no object has.
type Rest struct {
	Field string `json:"field"`
	Words string `json:"words"`
}

// Gate is what depends on a feature gate.
type Gate struct {
	Name string `json:"name"`
	// Fields that are kept only while it is on, and values that are accepted only while it is on, or off.
	Fields   []string `json:"fields,omitempty"`
	Accepted []string `json:"accepted,omitempty"`
	Rejected []string `json:"rejected,omitempty"`
}

// Finding is one problem, for all objects that show it.
type Finding struct {
	// ID is the same in every exploration. It identifies known findings.
	ID   string `json:"id"`
	Sort Sort   `json:"sort"`
	// Rule is the reason for its sort.
	Rule string `json:"rule"`
	// Checks that fail in the same way, and the kinds of the objects.
	Checks []string `json:"checks"`
	Kinds  []string `json:"kinds"`
	// From is the state in which the object was created. Before and To are the states before and after the transition
	// that breaks it.
	From   string `json:"from"`
	Before string `json:"before"`
	To     string `json:"to"`
	// What fails, in one sentence, and the API server's own words.
	What  string `json:"what"`
	Words string `json:"words"`
	// Back says whether the rollback repairs it.
	Back string `json:"back,omitempty"`
	// Flips are the gates that are most likely to blame.
	Flips []string `json:"flips,omitempty"`
	// Objects is how many showed it. Fields are those that they were made for, at most a few.
	Objects int      `json:"objects"`
	Fields  []string `json:"fields,omitempty"`
	// Object is the smallest that shows it, as YAML.
	Object string `json:"object"`
	// Scenario is the text of a file that reproduces it. Proof says whether it did.
	Scenario string `json:"scenario,omitempty"`
	Proof    Proof  `json:"proof"`
	// Known is why the finding is not new, with a link.
	Known string `json:"known,omitempty"`
	Link  string `json:"link,omitempty"`
}

// Count returns how many findings of a sort there are, and how many of them are known.
func (r *Report) Count(sort Sort) (all, known int) {
	for _, f := range r.Findings {
		if f.Sort != sort {
			continue
		}
		all++
		if f.Known != "" {
			known++
		}
	}
	return all, known
}

// Fields returns how many fields can be set, and how many of them an object has.
func (r *Report) Fields() (all, covered int) {
	for _, k := range r.Kinds {
		all, covered = all+k.Fields-k.Dropped, covered+k.Covered
	}
	return all, covered
}

// Fail adds the error that ended the exploration to what could not be judged. An interrupt is no failure.
func (r *Report) Fail(err error) {
	if err == nil || r.Interrupted {
		return
	}
	r.Failure = err.Error()
	said := func(line string) bool { return strings.Contains(line, r.Failure) }
	r.Unjudged = slices.Insert(slices.DeleteFunc(r.Unjudged, said), 0,
		"the exploration failed before its end: "+r.Failure)
}

// DroppedLine says how many findings their own scenarios did not show; "" if there are none.
func (r *Report) DroppedLine() string {
	switch n := len(r.Dropped); n {
	case 0:
		return ""
	case 1:
		return "1 finding was not shown again by its own scenario; explore.json has it"
	default:
		return fmt.Sprintf("%d findings were not shown again by their own scenarios; explore.json has them", n)
	}
}

// Sentence returns the result in one sentence.
func (r *Report) Sentence() string {
	if r.Idle {
		return fmt.Sprintf("shard %d/%d has nothing to explore: there are fewer kinds than shards%s", r.Shard.Number,
			r.Shard.Of, upgrades.Ending(r.Head, r.Interrupted))
	}
	var names []string
	for _, s := range r.Path {
		names = append(names, s.Name)
	}
	var counts []string
	for _, sort := range sorts() {
		all, known := r.Count(sort)
		text := plain.Plural(all, string(sort))
		if known > 0 {
			text += fmt.Sprintf(" (%d known)", known)
		}
		counts = append(counts, text)
	}
	text := fmt.Sprintf("%s: %s; %s crossed", strings.Join(names, " -> "), strings.Join(counts, ", "),
		plain.Plural(r.Crossed, "object"))
	if reached := r.reached(); reached < len(r.Path) {
		text += fmt.Sprintf("; %d of %d states reached", reached, len(r.Path))
	}
	return text + upgrades.Ending(r.Head, r.Interrupted)
}

func (r *Report) reached() int {
	return plain.Count(r.Path, func(s *State) bool { return s.Reached })
}

// ExitCode returns 0 for nothing new (or, for a shard, nothing to explore), 1 for new findings, 3 if something could
// not be judged, and 130 if interrupted.
func (r *Report) ExitCode() int {
	unknown := 0
	for _, sort := range sorts() {
		all, known := r.Count(sort)
		unknown += all - known
	}
	switch {
	case r.Interrupted:
		return 130
	case r.nothingToDo():
		return 0
	case unknown > 0:
		return 1
	case r.unjudged():
		return 3
	}
	return 0
}

// unjudged reports whether something could not be judged. A shard without kinds has nothing to judge.
func (r *Report) unjudged() bool {
	if r.nothingToDo() {
		return false
	}
	return len(r.Unjudged) > 0 || r.reached() < len(r.Path) || r.Crossed == 0 && (r.Shard == nil || r.Late)
}

// nothingToDo reports whether other shards explore all kinds.
func (r *Report) nothingToDo() bool { return r.Idle && r.Failure == "" && len(r.Unjudged) == 0 }
