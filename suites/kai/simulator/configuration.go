package simulator

import (
	"net"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// The webhook and its configuration have KAI's names.
const (
	configurationName     = "kai-podgroup-validation-v2alpha2"
	webhookName           = "podgroup-validation.kai.scheduler"
	mutatingConfiguration = "kai-podgroup-mutation-v2alpha2"
	mutatingWebhookName   = "podgroup-mutation.kai.scheduler"
)

// clientConfig says how the API server reaches a path.
func (e *endpoints) clientConfig(path string) admissionregistrationv1.WebhookClientConfig {
	url := "https://" + net.JoinHostPort(e.options.Host, strconv.Itoa(e.options.Port)) + path
	return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: e.authority}
}

// validating is the configuration of the validating webhook.
func (e *endpoints) validating() *admissionregistrationv1.ValidatingWebhookConfiguration {
	operations := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	if e.faults.Has(deletionsJudged) {
		operations = append(operations, admissionregistrationv1.Delete)
	}
	rules := podGroups(operations...)
	if e.faults.Has(statusJudged) {
		rules[0].Resources = append(rules[0].Resources, api.Resource.Resource+"/status")
	}
	if e.faults.Has(podLabelsJudged) {
		rules = append(rules, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{corev1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{"pods"},
			},
		})
	}
	policy := admissionregistrationv1.Fail
	if e.faults.Has(failsOpen) {
		policy = admissionregistrationv1.Ignore
	}
	none := admissionregistrationv1.SideEffectClassNone
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: configurationName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: webhookName, ClientConfig: e.clientConfig(e.validatePath), Rules: rules,
			FailurePolicy: &policy, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// mutating is the configuration of the mutating webhook, which only a faulty implementation has.
func (e *endpoints) mutating() *admissionregistrationv1.MutatingWebhookConfiguration {
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: mutatingConfiguration},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: mutatingWebhookName, ClientConfig: e.clientConfig(e.mutatePath),
			Rules:         podGroups(admissionregistrationv1.Create, admissionregistrationv1.Update),
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// podGroups are the rules that send PodGroups, without their status, to a webhook.
func podGroups(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	scope := admissionregistrationv1.NamespacedScope
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{api.GroupVersion.Group}, APIVersions: []string{api.GroupVersion.Version},
			Resources: []string{api.Resource.Resource}, Scope: &scope,
		},
	}}
}
