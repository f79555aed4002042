package upgrade

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/transplant"
)

// withhold removes the objects that make the API server call a Service in the cluster. The Service's pods are simulated
// and answer nothing, so every write would fail, or discovery would be incomplete. A CustomResourceDefinition stays,
// without its conversion webhook: limited are those of which only the stored version can be checked.
func withhold(objects []*manifests.Object) (kept []*manifests.Object, withheld, limited []rejected) {
	for _, o := range objects {
		if service := calls(o); service != "" {
			withheld = append(withheld, rejected{o, fmt.Errorf("it was not created: the API server would call Service %s, "+
				"whose pods are simulated and answer nothing", service)})
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

// withoutConversion is the object, or a copy without the conversion webhook that a Service would answer. The error says
// which versions are not checked.
func withoutConversion(o *manifests.Object) (*manifests.Object, error) {
	service := serviceIn(o.Content.Object, "spec", "conversion", "webhook", "clientConfig", "service")
	if o.GVK().Kind != "CustomResourceDefinition" || service == "" {
		return o, nil
	}
	without := *o
	without.Content = o.Content.DeepCopy()
	stored, others := transplant.WithoutConversion(without.Content)
	if len(others) == 0 {
		return &without, nil
	}
	return &without, fmt.Errorf("its conversion webhook would call Service %s, whose pods are simulated and answer "+
		"nothing: its objects are rehearsed as %s, in which they are stored, and not as %s", service, stored,
		strings.Join(others, ", "))
}

// calls is the Service that the API server would call for an object; "" if there is none.
func calls(o *manifests.Object) string {
	switch o.GVK().Group + "/" + o.GVK().Kind {
	case "admissionregistration.k8s.io/MutatingWebhookConfiguration",
		"admissionregistration.k8s.io/ValidatingWebhookConfiguration":
		webhooks, _, _ := unstructured.NestedSlice(o.Content.Object, "webhooks")
		for _, webhook := range webhooks {
			if fields, ok := webhook.(map[string]any); ok {
				if service := serviceIn(fields, "clientConfig", "service"); service != "" {
					return service
				}
			}
		}
	case "apiregistration.k8s.io/APIService":
		return serviceIn(o.Content.Object, "spec", "service")
	}
	return ""
}

func serviceIn(fields map[string]any, path ...string) string {
	service, _, _ := unstructured.NestedMap(fields, path...)
	if service == nil {
		return ""
	}
	return fmt.Sprintf("%v/%v", service["namespace"], service["name"])
}
