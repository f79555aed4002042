package scenarios

import "github.com/rehearse-dev/rehearse/clusters"

// Broken is a component that does not become what a state wants of it. It ends by itself, or does not become ready in
// all the time that the provider gives it (two minutes on local clusters). Any other failure is the error that it is,
// and a state that is reached a failure.
type Broken struct {
	// Component that is to blame. One that only waits for kube-apiserver is not.
	Component clusters.Component `json:"component,omitempty"`
	// System that is to blame, instead of a component: its process ends by itself before it serves, because of its
	// configuration say.
	System string `json:"system,omitempty" fixed:"true"`
	// Message of the component's own: what it answers when asked whether it is ready, or the end of its log.
	Message *Text `json:"message"`
}

// Culprit is the component, or the system as a component.
func (b *Broken) Culprit() clusters.Component {
	if b.System != "" {
		return clusters.SystemComponent(b.System)
	}
	return b.Component
}

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
		v.at(at, "go back, or end the scenario here", "%s comes after this, but nothing of a broken cluster can be "+
			"judged: another transition must follow, or nothing", verb)
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
			v.at(at.at("system"), suggest(broken.System, systemNames(after), "systems here"), "no system is called %q",
				short(broken.System))
		} else if system.Kind() == "manifests" {
			v.at(at.at("system"), "", "the system %q is no process of ours: the cluster runs it", short(broken.System))
		}
	}
}
