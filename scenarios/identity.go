package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// maxID is the maximum length of a scenario's id, in characters. It leaves room for longer names that contain the id.
const maxID = 40

// Title returns the scenario's name. For a row of a table it adds the row: name [row].
func (s *Scenario) Title() string { return withRow(s.Metadata.Name, s.CaseName) }

// ID returns the scenario's name as a DNS-1123 label of at most 40 characters, for namespaces and ${scenario.id}. It is
// unique among the scenarios of a Set, and the same in every run. A title that is such a label and starts with a letter
// stays unchanged.
func (s *Scenario) ID() string {
	title := s.Title()
	slug := slugOf(title)
	if slug == title && len(slug) <= maxID && startsWithLetter(slug) {
		return slug
	}
	sum := sha256.Sum256([]byte(s.Metadata.Name + "\x00" + s.CaseName))
	suffix := "-" + hex.EncodeToString(sum[:4])
	if !startsWithLetter(slug) {
		slug = strings.Trim("s-"+slug, "-") // a namespace may start with a digit, but some names made from it may not
	}
	slug = strings.TrimRight(slug[:min(len(slug), maxID-len(suffix))], "-")
	return slug + suffix
}

// CaseOf returns the value of "case" in the expressions of a step; nil without a table.
func (s *Scenario) CaseOf(step *Step) map[string]any {
	if step.Case != nil {
		return step.Case
	}
	return s.Case
}

// GoesOn reports whether the scenario continues after its i-th step fails.
func (s *Scenario) GoesOn(i int) bool {
	if own := s.Spec.Steps[i].Continue; own != nil {
		return *own
	}
	return s.Spec.Continue
}

// Transition returns the scenario's n-th transition, starting at 0; nil if it has fewer.
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

// Path returns the states of the scenario in order: the first state, and the state after each transition.
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

// Title returns the step's name or, without one, its verb and object. For a row of a table it adds the row: name [row].
func (s *Step) Title() string {
	name := s.Name
	if name == "" {
		name = strings.TrimSpace(s.Verb() + " " + s.verb().about(s))
	}
	return withRow(name, s.CaseName)
}

// Named reports whether a name in the scenario, such as that of a known issue or in since, refers to this step. The
// name can be the step's name or its title, which includes the row of a table.
func (s *Step) Named(name string) bool { return name != "" && (s.Name == name || s.Title() == name) }

func withRow(name, row string) string {
	if row == "" {
		return name
	}
	return name + " [" + row + "]"
}

// slugOf keeps the characters that a DNS-1123 label can have, in lower case, and replaces all others with dashes.
func slugOf(text string) string {
	var b strings.Builder
	dash := true // no dash at the beginning
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

// stateBefore returns the state of the cluster at the beginning of the i-th step.
func stateBefore(s *Scenario, i int) clusters.State {
	state := s.Spec.Cluster
	for _, step := range s.Spec.Steps[:i] {
		if step.Transition != nil {
			state = state.With(step.Transition.Change)
		}
	}
	return state
}
