package upgrade

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
)

// Objects that would make the API server call a Service, or a server elsewhere, are withheld and reported. Objects that
// make it call a server on this machine are kept.
func TestWithhold(t *testing.T) {
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(`
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: inside}, webhooks: [{name: a, clientConfig: {service: {namespace: ns, name: policy}}}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: outside}, webhooks: [{name: a, clientConfig: {url: "https://user:word@example.com/validate"}}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: here}, webhooks: [{name: a, clientConfig: {url: "https://127.0.0.1:9443/mutate"}}, {name: b, clientConfig: {url: "https://localhost:9443"}}, {name: c, clientConfig: {url: "https://[::1]:9443"}}]}
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
	wants := []string{"Service ns/policy", "would call example.com, which", "Service ns/api"}
	if len(withheld) != len(wants) {
		t.Fatalf("withheld %+v", withheld)
	}
	for i, want := range wants {
		if got := withheld[i].err.Error(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", withheld[i].object, got, want)
		}
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
