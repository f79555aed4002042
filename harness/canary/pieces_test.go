package canary

import (
	"testing"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// Whatever a canary writes, no scenario counts it.
func TestCanariesAreAside(t *testing.T) {
	for _, family := range []Family{
		Role, ClusterRole, Namespace, "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
	} {
		pieces := Canary{Family: family, Version: "v1", Namespace: "x", Name: "one"}.pieces()
		if len(pieces) == 0 {
			t.Errorf("%s: no pieces", family)
		}
		for _, p := range pieces {
			if (history.Scope{}).Contains(p.object) {
				t.Errorf("%s: the %s would be counted", family, p.object.GetKind())
			}
		}
	}
}
