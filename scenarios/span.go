package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// checkThroughout checks that throughout names two steps in order: the first is before this step, and the last is not
// after it.
func checkThroughout(v *validator, s *Scenario, i int, n *yamltree.Node) {
	names, at := s.Spec.Steps[i].throughout(), n.Get("throughout")
	if len(names) != 2 {
		v.At(at, "throughout: [first step, last step]", "want the names of two steps, not of %d", len(names))
		return
	}
	first, last := stepNumber(v, s, names[0], at.At(0)), stepNumber(v, s, names[1], at.At(1))
	switch {
	case first < 0 || last < 0:
	case first >= i:
		v.At(at.At(0), "", "the step %q is not before this one", words.Short(names[0]))
	case last > i:
		v.At(at.At(1), "put this step after it", "the step %q comes only after this one", words.Short(names[1]))
	case first > last:
		v.At(at, "", "the step %q comes after the step %q", words.Short(names[0]), words.Short(names[1]))
	}
}

// stepNumber returns the index of the one step that a name refers to. If there is not exactly one, it reports an error
// and returns -1.
func stepNumber(v *validator, s *Scenario, name string, n *yamltree.Node) int {
	meant := v.reference(s.Spec.Steps, name, n, "step")
	for i := range s.Spec.Steps {
		if &s.Spec.Steps[i] == meant {
			return i
		}
	}
	return -1
}

// Span returns the indexes of the first and last step of the period that the i-th step judges with throughout. ok is
// false if it judges no such period.
func (s *Scenario) Span(i int) (first, last int, ok bool) {
	names := s.Spec.Steps[i].throughout()
	if len(names) != 2 {
		return 0, 0, false
	}
	first, last = s.stepNamed(names[0]), s.stepNamed(names[1])
	return first, last, first >= 0 && last >= 0
}

// stepNamed returns the index of the first step with a name; -1 if there is none.
func (s *Scenario) stepNamed(name string) int {
	for i := range s.Spec.Steps {
		if s.Spec.Steps[i].Named(name) {
			return i
		}
	}
	return -1
}
