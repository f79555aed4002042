package upgrade

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/manifests"
)

// Objects that would make the API server call a Service are withheld and reported. Objects that make it call a server
// outside of the cluster are kept.
func TestWithhold(t *testing.T) {
	objects, err := manifests.Load([]string{manifests.Stdin}, strings.NewReader(`
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: inside}, webhooks: [{name: a, clientConfig: {service: {namespace: ns, name: policy}}}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: outside}, webhooks: [{name: a, clientConfig: {url: "https://example.com"}}]}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.example.com}, spec: {service: {namespace: ns, name: api}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`))
	if err != nil {
		t.Fatal(err)
	}
	kept, withheld := withhold(objects)
	if got, want := manifests.Counts(kept),
		"1 ConfigMap, 1 MutatingWebhookConfiguration.admissionregistration.k8s.io"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	if len(withheld) != 2 || !strings.Contains(withheld[0].err.Error(), "Service ns/policy") ||
		!strings.Contains(withheld[1].err.Error(), "Service ns/api") {
		t.Errorf("withheld %+v", withheld)
	}
}
