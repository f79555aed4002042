package operator

import (
	"net"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Webhook is a webhook that a simulator serves under a path. The API server rejects a write if it cannot call it.
type Webhook struct {
	Name, Path string
	Rules      []admissionv1.RuleWithOperations
	// Selector of objects. Default: all.
	Selector *metav1.LabelSelector
}

// Rules send a resource to a webhook.
func Rules(of schema.GroupVersionResource, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionv1.Rule{
			APIGroups: []string{of.Group}, APIVersions: []string{of.Version}, Resources: []string{of.Resource},
		},
	}}
}

// Validating registers validating webhooks. The authority is the one that signed the serving certificate.
func (o Options) Validating(authority []byte, name string,
	webhooks ...Webhook,
) *admissionv1.ValidatingWebhookConfiguration {
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	made := &admissionv1.ValidatingWebhookConfiguration{
		TypeMeta: typeMeta("ValidatingWebhookConfiguration"), ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	for _, w := range webhooks {
		made.Webhooks = append(made.Webhooks, admissionv1.ValidatingWebhook{
			Name: w.Name, ClientConfig: o.clientConfig(authority, w.Path), Rules: w.Rules, ObjectSelector: w.Selector,
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		})
	}
	return made
}

// Mutating registers mutating webhooks in the same way.
func (o Options) Mutating(
	authority []byte, name string, webhooks ...Webhook,
) *admissionv1.MutatingWebhookConfiguration {
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	made := &admissionv1.MutatingWebhookConfiguration{
		TypeMeta: typeMeta("MutatingWebhookConfiguration"), ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	for _, w := range webhooks {
		made.Webhooks = append(made.Webhooks, admissionv1.MutatingWebhook{
			Name: w.Name, ClientConfig: o.clientConfig(authority, w.Path), Rules: w.Rules, ObjectSelector: w.Selector,
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		})
	}
	return made
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: kind}
}

// clientConfig is how the API server reaches a path of the simulator.
func (o Options) clientConfig(authority []byte, path string) admissionv1.WebhookClientConfig {
	url := "https://" + net.JoinHostPort(o.Host, strconv.Itoa(o.Port)) + path
	return admissionv1.WebhookClientConfig{URL: &url, CABundle: authority}
}
