// Package upgrades contains the result of a rehearsed upgrade (the objects at each state of a path) and the writers of
// its reports.
package upgrades

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Severity of a finding.
type Severity string

// The severities, worst first.
const (
	// Breaks: something no longer works, or moved by itself.
	Breaks Severity = "breaks"
	// Unjudged: the result is unknown. It never counts as a success.
	Unjudged Severity = "not judged"
	// Changes: something differs, but works.
	Changes Severity = "changes"
	// Before: it was broken before the first transition, which is therefore not to blame.
	Before Severity = "broken before"
)

// Severities lists them, worst first.
func Severities() []Severity { return []Severity{Breaks, Unjudged, Changes, Before} }

// Worse reports whether the severity is worse than another one; "" is good.
func (s Severity) Worse(than Severity) bool {
	if s == "" || s == than {
		return false
	}
	all := Severities()
	return than == "" || slices.Index(all, s) < slices.Index(all, than)
}

// Format of an upgrade.json. It changes if a program can no longer read the file of another version.
const Format = 1

// Report is the result of one rehearsal. It is upgrade.json.
type Report struct {
	reports.Head

	// Shard says which part of the kinds was surveyed; nil for all. Idle says that the part has no kinds, because there
	// are fewer kinds than shards.
	Shard *reports.Shard `json:"shard,omitempty"`
	Idle  bool           `json:"idle,omitempty"`
	// Interrupted says that the rehearsal did not finish.
	Interrupted bool `json:"interrupted,omitempty"`
	// Failure is the error that ended the rehearsal. A finding has it, too.
	Failure string `json:"failure,omitempty"`
	// Processes are all starts of the cluster's components, in order.
	Processes []reports.Process `json:"processes,omitempty"`
	// Timelines are those of the shards' clusters, in a merged report: it has no cluster of its own.
	Timelines []*Timeline `json:"timelines,omitempty"`
	// Path of states, in order.
	Path []*State `json:"path"`
	// Objects is how many objects were given, and Surveyed how many of them were created and surveyed.
	Objects  int `json:"objects"`
	Surveyed int `json:"surveyed"`
	// Sampled is how many of them got dry runs. All of them were read.
	Sampled int `json:"sampled,omitempty"`
	// Sample is the maximum number of objects of one kind and shape that got dry runs; 0: all.
	Sample int `json:"sample,omitempty"`
	// Findings, worst first.
	Findings []*Finding `json:"findings"`
	// Checks are all checks, one for each question and kind.
	Checks []*Check `json:"checks"`
	// Matrix of kinds and states.
	Matrix []*Row `json:"matrix"`
	// Notes are facts about the rehearsal that a reader must know.
	Notes []string `json:"notes,omitempty"`
	// Requests that the survey sent.
	Requests int64 `json:"requests"`
}

// Timeline is what happened to one cluster, and when.
type Timeline struct {
	// Shard is the number of the shard.
	Shard     int               `json:"shard"`
	Started   time.Time         `json:"started,omitzero"`
	Finished  time.Time         `json:"finished,omitzero"`
	Path      []*State          `json:"path"`
	Processes []reports.Process `json:"processes,omitempty"`
}

// State is one state of the path.
type State struct {
	// Name in one line: 1.35.4 SomeGate=true.
	Name string `json:"name"`
	// Way to it: Start, Up, Back or Redeploy.
	Way string `json:"way"`
	// Reached says that the cluster reached the state, and that it was surveyed.
	Reached bool `json:"reached"`
	// Transition and Survey are how long the transition to the state and the survey took, in seconds.
	Transition float64 `json:"transitionSeconds"`
	Survey     float64 `json:"surveySeconds"`
	// Began is when the transition to the state began.
	Began time.Time `json:"began,omitzero"`
	// Flips are the gates whose value differs from the state before.
	Flips []string `json:"flips,omitempty"`
}

// The ways to a state.
const (
	Start = "start"
	Up    = "upgrade"
	Back  = "rollback"
	// Redeploy: all objects were deleted and recreated; the cluster stayed as it was.
	Redeploy = "redeploy"
)

// Object that a finding is about.
type Object struct {
	// Name is the object's kind, namespace and name, such as Deployment shop/web.
	Name string `json:"name"`
	// Place is file:line.
	Place string `json:"place,omitempty"`
}

// Finding is one result of a survey.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check that found it, other checks that fail in the same way, and the kind that was checked.
	Check  string   `json:"check"`
	Checks []string `json:"checks,omitempty"`
	Kind   string   `json:"kind"`
	// Objects that it concerns.
	Objects []Object `json:"objects"`
	// State is the number of the first state that shows it. States are all that do.
	State  int   `json:"state"`
	States []int `json:"states"`
	// Hop is the transition after which it appeared: "1.35.4 -> 1.36.3".
	Hop string `json:"hop"`
	// What fails, in one sentence.
	What string `json:"what"`
	// Words are the API server's message, or what was seen.
	Words string `json:"words,omitempty"`
	// Flips are the gates that changed at the hop. They are likely to blame, unless the cause is a change without a
	// gate.
	Flips []string `json:"flips,omitempty"`
	// Cause is a change of Kubernetes that is known to do this. Link describes it.
	Cause string `json:"cause,omitempty"`
	Link  string `json:"link,omitempty"`
	// Back says whether the rollback repairs it.
	Back string `json:"back,omitempty"`
	// Advice says what to do.
	Advice string `json:"advice,omitempty"`
}

// Check is one question about one kind, with its worst result.
type Check struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Severity Severity `json:"severity,omitempty"` // "" where all is well
	Message  string   `json:"message,omitempty"`
}

// Row of the matrix: one kind.
type Row struct {
	Kind    string `json:"kind"`
	Objects int    `json:"objects"`
	// Cells by the number of the state.
	Cells []Cell `json:"cells"`
}

// Cell counts the objects of a kind at a state by their worst finding.
type Cell struct {
	Good     int `json:"good,omitempty"`
	Breaks   int `json:"breaks,omitempty"`
	Changes  int `json:"changes,omitempty"`
	Unjudged int `json:"unjudged,omitempty"`
	Before   int `json:"before,omitempty"`
}

// Add counts one more object.
func (c *Cell) Add(s Severity) {
	switch s {
	case Breaks:
		c.Breaks++
	case Changes:
		c.Changes++
	case Unjudged:
		c.Unjudged++
	case Before:
		c.Before++
	default:
		c.Good++
	}
}

// GivenKind is the kind of the finding's objects with its API group. Kind may be that of their dependents: "Pod of
// StatefulSet.apps".
func (f *Finding) GivenKind() string {
	if _, given, ok := strings.Cut(f.Kind, " of "); ok {
		return given
	}
	return f.Kind
}

// Count returns how many objects have a finding of that severity.
func (r *Report) Count(s Severity) int {
	type object struct {
		kind string
		Object
	}
	objects := map[object]bool{}
	others := 0
	for _, f := range r.Findings {
		if f.Severity != s {
			continue
		}
		if len(f.Objects) == 0 {
			others++
		}
		for _, o := range f.Objects {
			objects[object{f.GivenKind(), o}] = true
		}
	}
	return len(objects) + others
}

// Fail adds the error that ended the rehearsal as a finding, after what breaks. An interrupt is no failure. Only the
// first error counts.
func (r *Report) Fail(err error) {
	if err == nil || r.Interrupted || r.Failure != "" {
		return
	}
	r.Failure = err.Error()
	f := &Finding{
		Severity: Unjudged, Check: "run", Kind: "rehearsal", Objects: []Object{}, States: []int{},
		What: "it failed before its end", Words: r.Failure,
	}
	if at := slices.IndexFunc(r.Path, func(s *State) bool { return !s.Reached }); at >= 0 {
		f.State, f.States, f.Hop = at, []int{at}, r.Path[at].Name
		if at > 0 {
			f.Hop = r.Path[at-1].Name + " -> " + f.Hop
		}
	}
	before := slices.IndexFunc(r.Findings, func(f *Finding) bool { return f.Severity != Breaks })
	if before < 0 {
		before = len(r.Findings)
	}
	r.Findings = slices.Insert(r.Findings, before, f)
}

// SampleNotes says that dry runs were sent for some objects only; nothing if they were sent for all.
func (r *Report) SampleNotes() []string {
	if r.Sample == 0 || r.Sampled >= r.Surveyed {
		return nil
	}
	return []string{fmt.Sprintf("dry runs were sent for %d of %d objects, at most %d of one kind and shape; all objects "+
		"were read", r.Sampled, r.Surveyed, r.Sample)}
}

// Ending is what a sentence says about a result that is not the whole one.
func Ending(head reports.Head, interrupted bool) string {
	switch {
	case interrupted:
		return "; interrupted"
	case !head.Started.IsZero() && head.Finished.IsZero():
		return "; it had not finished when this was written"
	}
	return ""
}

// Sentence is the result: 1.34.4 -> 1.35.4 -> 1.34.4: 12 objects; 1 breaks, 0 change, 0 not judged.
func (r *Report) Sentence() string {
	var names []string
	for _, s := range r.Path {
		names = append(names, s.Name)
	}
	if r.Idle {
		return fmt.Sprintf("%s: shard %d/%d has nothing to check: there are fewer kinds than shards",
			strings.Join(names, " -> "), r.Shard.Number, r.Shard.Of)
	}
	text := fmt.Sprintf("%s: %s; %s, %s, %d not judged", strings.Join(names, " -> "),
		plain.Plural(r.Objects, "object"),
		verb(r.Count(Breaks), "break"), verb(r.Count(Changes), "change"), r.Count(Unjudged))
	if n := r.Count(Before); n > 0 {
		text += fmt.Sprintf(", %d %s broken before", n, be(n))
	}
	switch {
	case r.Shard != nil:
		text += fmt.Sprintf("; shard %d/%d: %d checked", r.Shard.Number, r.Shard.Of, r.Surveyed)
	case 0 < r.Surveyed && r.Surveyed < r.Objects: // with --only
		text += fmt.Sprintf("; %d checked", r.Surveyed)
	}
	if reached := r.Reached(); reached < len(r.Path) {
		text += fmt.Sprintf("; %d of %d states reached", reached, len(r.Path))
	}
	return text + Ending(r.Head, r.Interrupted)
}

// Hop names the transition to a state; the first state is only named.
func (r *Report) Hop(state int) string {
	if state == 0 {
		return r.Path[0].Name
	}
	return r.Path[state-1].Name + " -> " + r.Path[state].Name
}

// Reached is the number of states that were surveyed.
func (r *Report) Reached() int {
	return plain.Count(r.Path, func(s *State) bool { return s.Reached })
}

// ExitCode: 0 nothing breaks, 1 something breaks, 3 something could not be judged, 130 interrupted.
func (r *Report) ExitCode() int {
	switch {
	case r.Interrupted:
		return 130
	case r.Count(Breaks) > 0:
		return 1
	case r.Idle && r.Failure == "" && r.Count(Unjudged) == 0:
		return 0
	case r.Count(Unjudged) > 0, r.Reached() < len(r.Path), r.Surveyed == 0:
		return 3
	}
	return 0
}

func verb(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %ss", what)
	}
	return fmt.Sprintf("%d %s", n, what)
}

func be(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
