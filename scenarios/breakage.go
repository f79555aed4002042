package scenarios

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Broken is a component that does not reach its new state: it exits, or does not become ready within the provider's
// timeout (two minutes on local clusters). Any other failure is an error as usual, and if the state is reached, the
// step fails.
type Broken struct {
	// Component that breaks. A component that only waits for kube-apiserver does not count.
	Component clusters.Component `json:"component,omitempty"`
	// System that breaks, instead of a component: its process exits before it serves, for example because of its
	// configuration.
	System string `json:"system,omitempty" fixed:"true"`
	// Message of the component: its answer to a readiness request, or the end of its log.
	Message *Text `json:"message"`
}

// Culprit returns the component that is expected to break. A system is returned as the component that stands for it.
func (b *Broken) Culprit() clusters.Component {
	if b.System != "" {
		return clusters.SystemComponent(b.System)
	}
	return b.Component
}

// Breaks returns what a transition is expected to break; nil if it must not break, and for all other steps.
func (s *Step) Breaks() *Broken {
	if s.Transition == nil || s.Transition.Expect == nil {
		return nil
	}
	return s.Transition.Expect.Broken
}

// checkBroken checks what the i-th step, a transition, is expected to break. after is the state that it leads to.
func checkBroken(v *validator, s *Scenario, i int, after clusters.State, n *yamltree.Node) {
	broken := s.Spec.Steps[i].Breaks()
	if broken == nil {
		return
	}
	at := n.At("broken")
	checkCulprit(v, broken, after, at)
	v.text(broken.Message, at.At("message"))
	if i+1 == len(s.Spec.Steps) {
		return
	}
	if verb := s.Spec.Steps[i+1].Verb(); verb != "" && verb != "transition" {
		v.At(at, "roll back, or end the scenario here", "%s comes after this, but a broken cluster cannot be "+
			"judged: only another transition may follow", verb)
	}
}

// checkCulprit checks what is expected to break: either one component, or one system that Rehearse runs as a process.
func checkCulprit(v *validator, broken *Broken, after clusters.State, at *yamltree.Node) {
	switch {
	case broken.System == "" && broken.Component == "":
		v.At(at, "", "give either component or system")
	case broken.System == "":
		var known []string
		for _, c := range after.ControlPlane() {
			known = append(known, string(c))
		}
		v.OneOf(string(broken.Component), known, at.At("component"), "component that could break")
	case broken.Component != "":
		v.At(at.Key("system"), "", "give either component or system")
	default:
		checkProcess(v, after, broken.System, "", at.At("system"))
	}
}
