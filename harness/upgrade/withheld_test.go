package upgrade

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
)

// Objects that would make the API server call a Service are withheld and reported. Objects that make it call a server
// outside of the cluster are kept.
func TestWithhold(t *testing.T) {
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(`
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: inside}, webhooks: [{name: a, clientConfig: {service: {namespace: ns, name: policy}}}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: outside}, webhooks: [{name: a, clientConfig: {url: "https://example.com"}}]}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.example.com}, spec: {service: {namespace: ns, name: api}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, spec: {versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, storage: false}], conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: ns, name: convert}}}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`)}.Load()
	if err != nil {
		t.Fatal(err)
	}
	kept, withheld, limited := withhold(objects)
	if got, want := manifests.Counts(kept),
		"1 ConfigMap, 1 CustomResourceDefinition.apiextensions.k8s.io, "+
			"1 MutatingWebhookConfiguration.admissionregistration.k8s.io"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	if len(withheld) != 2 || !strings.Contains(withheld[0].err.Error(), "Service ns/policy") ||
		!strings.Contains(withheld[1].err.Error(), "Service ns/api") {
		t.Errorf("withheld %+v", withheld)
	}
	if len(limited) != 1 || !strings.Contains(limited[0].err.Error(), "Service ns/convert") ||
		!strings.Contains(limited[0].err.Error(), "as v1, in which they are stored, and not as v1beta1") {
		t.Fatalf("limited %+v", limited)
	}
	strategy, _, _ := unstructured.NestedString(limited[0].object.Content.Object, "spec", "conversion", "strategy")
	if strategy != "None" {
		t.Errorf("the conversion strategy is %s", strategy)
	}
}
