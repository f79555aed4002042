package upgrade

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
)

// withhold removes the objects that make the API server call a Service in the cluster. The Service's pods are simulated
// and answer nothing, so every write would fail, or discovery would be incomplete.
func withhold(objects []*manifests.Object) (kept []*manifests.Object, withheld []rejected) {
	for _, o := range objects {
		if service := calls(o); service != "" {
			withheld = append(withheld, rejected{o, fmt.Errorf("it was not created: the API server would call Service %s, "+
				"whose pods are simulated and answer nothing", service)})
			continue
		}
		kept = append(kept, o)
	}
	return kept, withheld
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
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return serviceIn(o.Content.Object, "spec", "conversion", "webhook", "clientConfig", "service")
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
