package assertions

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// basis is what a verdict is based on: the states of objects that were looked at.
type basis struct {
	states  int
	objects map[types.UID]bool
}

func (s *basis) add(object *unstructured.Unstructured) {
	if s.objects == nil {
		s.objects = map[types.UID]bool{}
	}
	s.states++
	s.objects[object.GetUID()] = true
}

// words describes it: "23 states of 4 pods".
func (s *basis) words(resource string) string {
	if s.states == 0 {
		return "there were no " + resource
	}
	states := "states"
	if s.states == 1 {
		states = "state"
	}
	return fmt.Sprintf("%d %s of %d %s", s.states, states, len(s.objects), resource)
}

// conditional reports whether the assertion requires something of an object, besides its existence.
func (j *judge) conditional() bool { return len(j.assertion.Match) > 0 || j.assertion.CEL != "" }

// vacuous reports whether the assertion has a condition that was never checked, since no object was selected. For
// Eventually, objects earlier in the scenario count, too: an object that is gone can no longer be checked.
func (w *watcher) vacuous() bool {
	if !w.conditional() || w.assertion.Vacuous == scenarios.Allowed || w.basis.states > 0 {
		return false
	}
	return w.verb != "eventually" || !w.Seen && len(w.Stream.ChangesBetween(w.Since, w.seq, w.scope)) == 0
}

// vacuity says that the condition was never checked, and how to fix that.
func (w *explainer) vacuity() string {
	return fmt.Sprintf("The condition was never checked: at no time was there a %s. Select existing objects, omit "+
		"the condition to require that there are none, or set vacuous: allowed.", described(w.assertion.Kind, w.scope))
}
