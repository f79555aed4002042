package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// maxID is the most characters of a scenario's id, so that it can be part of longer names.
const maxID = 40

// Title is the scenario's name, with its row: name [row].
func (s *Scenario) Title() string { return withRow(s.Metadata.Name, s.CaseName) }

// ID is the scenario's name as a DNS-1123 label of at most 40 characters, for namespaces and ${scenario.id}: unique
// among the scenarios of a Set, and the same in every run. It is the name itself where that will do.
func (s *Scenario) ID() string {
	title := s.Title()
	slug := slugOf(title)
	if slug == title && len(slug) <= maxID && startsWithLetter(slug) {
		return slug
	}
	sum := sha256.Sum256([]byte(s.Metadata.Name + "\x00" + s.CaseName))
	suffix := "-" + hex.EncodeToString(sum[:4])
	if !startsWithLetter(slug) {
		slug = strings.Trim("s-"+slug, "-") // a namespace may begin with a digit, but not all that is named after it
	}
	slug = strings.TrimRight(slug[:min(len(slug), maxID-len(suffix))], "-")
	return slug + suffix
}

// CaseOf is what "case" is in the expressions of one of the scenario's steps; nil without a table.
func (s *Scenario) CaseOf(step *Step) map[string]any {
	if step.Case != nil {
		return step.Case
	}
	return s.Case
}

// GoesOn says whether the scenario goes on when its step i fails.
func (s *Scenario) GoesOn(i int) bool {
	if own := s.Spec.Steps[i].Continue; own != nil {
		return *own
	}
	return s.Spec.Continue
}

// Transition is the scenario's n-th step that is a transition, from 0; nil where there are fewer.
func (s *Scenario) Transition(n int) *Step {
	for i := range s.Spec.Steps {
		if s.Spec.Steps[i].Transition == nil {
			continue
		}
		if n == 0 {
			return &s.Spec.Steps[i]
		}
		n--
	}
	return nil
}

// Path is the sequence of the states that the scenario goes through: the first, and the one after each transition.
func (s *Scenario) Path() []clusters.State {
	state := s.Spec.Cluster
	path := []clusters.State{state}
	for i := range s.Spec.Steps {
		if t := s.Spec.Steps[i].Transition; t != nil {
			state = state.With(t.Change)
			path = append(path, state)
		}
	}
	return path
}

// Title is the step's name, or else its verb and what it is about; with its row: name [row].
func (s *Step) Title() string {
	name := s.Name
	if name == "" {
		name = strings.TrimSpace(s.Verb() + " " + s.verb().about(s))
	}
	return withRow(name, s.CaseName)
}

// Named says whether a known issue or a metric's since means this step: by its name, or by its title for a row of a
// table.
func (s *Step) Named(name string) bool { return name != "" && (s.Name == name || s.Title() == name) }

func withRow(name, row string) string {
	if row == "" {
		return name
	}
	return name + " [" + row + "]"
}

// slugOf keeps what a DNS-1123 label may hold and puts a dash for the rest.
func slugOf(text string) string {
	var b strings.Builder
	dash := true // none at the beginning
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
			dash = false
		} else if !dash {
			b.WriteByte('-')
			dash = true
		}
	}
	return strings.TrimRight(b.String(), "-")
}

func startsWithLetter(text string) bool { return text != "" && text[0] >= 'a' && text[0] <= 'z' }

// stateBefore is the state in which the i-th step begins.
func stateBefore(s *Scenario, i int) clusters.State {
	state := s.Spec.Cluster
	for _, step := range s.Spec.Steps[:i] {
		if step.Transition != nil {
			state = state.With(step.Transition.Change)
		}
	}
	return state
}
