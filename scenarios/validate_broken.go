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
	v.culprit(broken, after, at)
	v.text(broken.Message, at.at("message"))
	if i+1 == len(s.Spec.Steps) {
		return
	}
	if verb := s.Spec.Steps[i+1].Verb(); verb != "" && verb != "transition" {
		v.at(at, "go back, or end the scenario here", "%s comes after this, but nothing of a broken cluster can be judged: another transition must follow, or nothing", verb)
	}
}

// culprit checks what is to break: one component or one system that is a process.
func (v *validator) culprit(broken *Broken, after clusters.State, at *node) {
	switch {
	case broken.System == "" && broken.Component == "":
		v.at(at, "", "give either component or system")
	case broken.System == "":
		var known []string
		for _, c := range after.ControlPlane() {
			known = append(known, string(c))
		}
		v.oneOf(string(broken.Component), known, at.at("component"), "component that could break")
	case broken.Component != "":
		v.at(at.key("system"), "", "give either component or system")
	default:
		if system, there := after.System(broken.System); !there {
			v.at(at.at("system"), suggest(broken.System, systemNames(after), "systems here"), "no system is called %q", short(broken.System))
		} else if system.Kind() == "manifests" {
			v.at(at.at("system"), "", "the system %q is no process of ours: the cluster runs it", short(broken.System))
		}
	}
}
