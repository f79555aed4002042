package canary

import (
	"testing"

	"github.com/rehearse-dev/rehearse/harness/history"
)

// No scenario counts the objects of a canary.
func TestCanariesAreAside(t *testing.T) {
	for _, family := range []Family{
		Role, ClusterRole, Namespace, "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
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

// A canary has the kind of its family, in the requested version.
func TestGVK(t *testing.T) {
	for family, want := range map[Family]string{
		"MutatingAdmissionPolicy":        "admissionregistration.k8s.io/v1beta1, Kind=MutatingAdmissionPolicy",
		Role:                             "rbac.authorization.k8s.io/v1beta1, Kind=Role",
		ClusterRole:                      "rbac.authorization.k8s.io/v1beta1, Kind=ClusterRole",
		Namespace:                        "/v1beta1, Kind=Namespace",
		"ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1beta1, Kind=ValidatingWebhookConfiguration",
	} {
		gvk := family.GVK("v1beta1")
		if gvk.String() != want {
			t.Errorf("%s: %s", family, gvk)
		}
		if of, ok := FamilyOf(gvk); !ok || of != family {
			t.Errorf("%s is of family %s", gvk, of)
		}
	}
}
