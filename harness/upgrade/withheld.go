package upgrade

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/transplant"
)

// withhold removes the objects that make the API server call a Service in the cluster, or a server outside of this
// machine. The Service's pods are simulated and answer nothing, so every write would fail, or discovery would be
// incomplete. A server elsewhere would get the rehearsal's writes as real ones. A CustomResourceDefinition stays,
// without its conversion webhook: limited are those of which only the stored version can be checked.
func withhold(objects []*manifests.Object) (kept []*manifests.Object, withheld, limited []rejected) {
	for _, o := range objects {
		if called := calls(o); called != "" {
			withheld = append(withheld, rejected{o, fmt.Errorf("it was not created: the API server would call %s", called)})
			continue
		}
		without, err := withoutConversion(o)
		if err != nil {
			limited = append(limited, rejected{without, err})
		}
		kept = append(kept, without)
	}
	return kept, withheld, limited
}

// withoutConversion is the object, or a copy without the conversion webhook that a Service or a server elsewhere would
// answer. The error says which versions are not checked.
func withoutConversion(o *manifests.Object) (*manifests.Object, error) {
	called := transplant.Callee(o.Content.Object, "spec", "conversion", "webhook", "clientConfig")
	if o.GVK().Kind != "CustomResourceDefinition" || called == "" {
		return o, nil
	}
	without := *o
	without.Content = o.Content.DeepCopy()
	stored, others := transplant.WithoutConversion(without.Content)
	if len(others) == 0 {
		return &without, nil
	}
	return &without, fmt.Errorf("its conversion webhook would call %s: its objects are rehearsed as %s, in which "+
		"they are stored, and not as %s", called, stored, strings.Join(others, ", "))
}

// calls is what the API server would call for an object; "" if there is nothing, or if it runs on this machine.
func calls(o *manifests.Object) string {
	switch o.GVK().Group + "/" + o.GVK().Kind {
	case "admissionregistration.k8s.io/MutatingWebhookConfiguration",
		"admissionregistration.k8s.io/ValidatingWebhookConfiguration":
		webhooks, _, _ := unstructured.NestedSlice(o.Content.Object, "webhooks")
		for _, webhook := range webhooks {
			if fields, ok := webhook.(map[string]any); ok {
				if called := transplant.Callee(fields, "clientConfig"); called != "" {
					return called
				}
			}
		}
	case "apiregistration.k8s.io/APIService":
		return transplant.Callee(o.Content.Object, "spec")
	}
	return ""
}
