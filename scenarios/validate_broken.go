package scenarios

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// Breaks says what the step, a transition, is expected to break; nil for all other steps.
func (s *Step) Breaks() *Broken {
	if s.Transition == nil || s.Transition.Expect == nil {
		return nil
	}
	return s.Transition.Expect.Broken
}

// broken checks what the i-th step, a transition to a state, is expected to break.
func (v *validator) broken(s *Scenario, i int, after clusters.State, n *node) {
	broken := s.Spec.Steps[i].Breaks()
	if broken == nil {
		return
	}
	at := n.at("broken")
	var known []string
	for _, c := range after.ControlPlane() {
		known = append(known, string(c))
	}
	v.oneOf(string(broken.Component), known, at.at("component"), "component that could break")
	v.text(broken.Message, at.at("message"))
	if i+1 == len(s.Spec.Steps) {
		return
	}
	if verb := s.Spec.Steps[i+1].Verb(); verb != "" && verb != "transition" {
		v.at(at, "go back, or end the scenario here", "%s comes after this, but nothing of a broken cluster can be judged: another transition must follow, or nothing", verb)
	}
}
