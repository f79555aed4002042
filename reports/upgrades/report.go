// Package upgrades contains the result of a rehearsed upgrade (the objects at each state of a path) and the writers of
// its reports.
package upgrades

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Severity of a finding.
type Severity string

// The severities, worst first.
const (
	// Breaks: something that worked before does not work any more, or moved by itself.
	Breaks Severity = "breaks"
	// Unjudged: it could not be found out. It is never a success.
	Unjudged Severity = "cannot be judged"
	// Changes: something is different, but it works.
	Changes Severity = "changes"
	// Before: it was broken before the first transition, which is not to blame.
	Before Severity = "broken before"
)

// Severities lists them, worst first.
func Severities() []Severity { return []Severity{Breaks, Unjudged, Changes, Before} }

// Report is the result of one rehearsal. It is upgrade.json.
type Report struct {
	reports.Head

	// Interrupted says that the rehearsal was interrupted before its end.
	Interrupted bool `json:"interrupted,omitempty"`
	// Processes of the cluster's components, each start of one, in order.
	Processes []reports.Process `json:"processes,omitempty"`
	// Path of states, in order.
	Path []*State `json:"path"`
	// Objects is how many were given, Surveyed how many of them were created and surveyed.
	Objects  int `json:"objects"`
	Surveyed int `json:"surveyed"`
	// Sampled is how many of them were sent dry runs. All were read.
	Sampled int `json:"sampled,omitempty"`
	// Findings, worst first.
	Findings []*Finding `json:"findings"`
	// Checks are all that was asked, one for each question and kind.
	Checks []*Check `json:"checks"`
	// Matrix of kinds and states.
	Matrix []*Row `json:"matrix"`
	// Notes are what a reader must know of how it was rehearsed.
	Notes []string `json:"notes,omitempty"`
	// Requests that the survey sent.
	Requests int64 `json:"requests"`
}

// State is one state of the path.
type State struct {
	// Name in one line: 1.35.4 SomeGate=true.
	Name string `json:"name"`
	// Way to it: Start, Up, Back or Redeploy.
	Way string `json:"way"`
	// Reached says that the cluster came to it and was surveyed.
	Reached bool `json:"reached"`
	// Transition and Survey are how long the cluster took to come to the state, and the survey to look at it, in seconds.
	Transition float64 `json:"transitionSeconds"`
	Survey     float64 `json:"surveySeconds"`
	// Began is when the way to the state was begun.
	Began time.Time `json:"began,omitzero"`
	// Flips are the gates that have another value than in the state before.
	Flips []string `json:"flips,omitempty"`
}

// The ways to a state.
const (
	Start = "start"
	Up    = "upgrade"
	Back  = "rollback"
	// Redeploy: all objects were deleted and created anew; the cluster stayed as it was.
	Redeploy = "redeploy"
)

// Object that a finding is about.
type Object struct {
	// Name is Deployment shop/web.
	Name string `json:"name"`
	// Place is file:line.
	Place string `json:"place,omitempty"`
}

// Finding is one thing that a survey shows.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check that found it, others that fail alike, and the kind that was asked about.
	Check  string   `json:"check"`
	Checks []string `json:"checks,omitempty"`
	Kind   string   `json:"kind"`
	// Objects that it concerns.
	Objects []Object `json:"objects"`
	// State is the number of the first state that shows it; States are all that do.
	State  int   `json:"state"`
	States []int `json:"states"`
	// Hop on which it came: "1.35.4 -> 1.36.3".
	Hop string `json:"hop"`
	// What fails, in one sentence.
	What string `json:"what"`
	// Words are the API server's own, or what was seen.
	Words string `json:"words,omitempty"`
	// Flips are the gates that have another value since the hop: what is likely to blame, if it is not a change without a
	// gate.
	Flips []string `json:"flips,omitempty"`
	// Cause is a change of Kubernetes that is known to do this; Link is where to read of it.
	Cause string `json:"cause,omitempty"`
	Link  string `json:"link,omitempty"`
	// Back says whether the rollback mends it.
	Back string `json:"back,omitempty"`
	// Advice says what to do.
	Advice string `json:"advice,omitempty"`
}

// Check is one question about one kind, with the worst that came of it.
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

// Cell counts the objects of a kind at a state by the worst that is said of them.
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

// Count is how many objects have a finding of that severity.
func (r *Report) Count(s Severity) int {
	objects := map[Object]bool{}
	others := 0
	for _, f := range r.Findings {
		if f.Severity != s {
			continue
		}
		if len(f.Objects) == 0 {
			others++
		}
		for _, o := range f.Objects {
			objects[o] = true
		}
	}
	return len(objects) + others
}

// Sentence is what came of it: 1.34.4 -> 1.35.4 -> 1.34.4: 12 objects; 1 breaks, 0 change, 0 cannot be judged.
func (r *Report) Sentence() string {
	var names []string
	for _, s := range r.Path {
		names = append(names, s.Name)
	}
	text := fmt.Sprintf("%s: %s; %s, %s, %d cannot be judged", strings.Join(names, " -> "),
		plain.Plural(r.Objects, "object"),
		verb(r.Count(Breaks), "break"), verb(r.Count(Changes), "change"), r.Count(Unjudged))
	if n := r.Count(Before); n > 0 {
		text += fmt.Sprintf(", %d %s broken before", n, be(n))
	}
	if reached := r.reached(); reached < len(r.Path) {
		text += fmt.Sprintf("; %d of %d states reached", reached, len(r.Path))
	}
	return text
}

func (r *Report) reached() int {
	n := 0
	for _, s := range r.Path {
		if s.Reached {
			n++
		}
	}
	return n
}

// ExitCode: 0 nothing breaks, 1 something does, 3 something could not be judged, 130 interrupted.
func (r *Report) ExitCode() int {
	switch {
	case r.Interrupted:
		return 130
	case r.Count(Breaks) > 0:
		return 1
	case r.Count(Unjudged) > 0, r.reached() < len(r.Path), r.Surveyed == 0:
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
