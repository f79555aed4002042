package kubernetes_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/kubernetes"
)

// Kubernetes judges generated names of Services as the enhancement says. Compared with the rule for the other state of
// the gate, a disagreement is found.
func TestGeneratedNames(t *testing.T) {
	on, off := kubernetes.Rules()[0], kubernetes.Rules()[1]
	offOnOn, onOnOff := off, on
	offOnOn.State, onOnOff.State = on.State, off.State
	for i, result := range suite().Cases(t, []cases.Rule{on, offOnOn, off, onOnOff}, 1000, 9) {
		switch found := result.Disagreement; {
		case result.Err != nil:
			t.Errorf("%s: %v", result.Rule.Name, result.Err)
		case i%2 == 0 && (found != nil || result.Judged != 1000):
			t.Errorf("%s: %d judged, %v", result.Rule.Name, result.Judged, found)
		case i%2 == 0 && len(result.About) != len(result.Rule.Covers):
			t.Errorf("%s: the cases are about %v, want all of %q", result.Rule.Name, result.About, result.Rule.Covers)
		case i%2 == 1 && (found == nil || found.Case.Input != `a Service named "0"`):
			t.Errorf("%s on %s: got %v", result.Rule.Name, result.Rule.State, found)
		}
	}
}
