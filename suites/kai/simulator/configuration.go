package simulator

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// The webhook and its configuration have KAI's names.
const (
	configurationName     = "kai-podgroup-validation-v2alpha2"
	webhookName           = "podgroup-validation.kai.scheduler"
	mutatingConfiguration = "kai-podgroup-mutation-v2alpha2"
	mutatingWebhookName   = "podgroup-mutation.kai.scheduler"
)

// validating is the configuration of the validating webhook.
func (e *endpoints) validating() *admissionv1.ValidatingWebhookConfiguration {
	operations := []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
	if e.faults.Has(deletionsJudged) {
		operations = append(operations, admissionv1.Delete)
	}
	rules := podGroups(operations...)
	if e.faults.Has(statusJudged) {
		rules[0].Resources = append(rules[0].Resources, api.Resource.Resource+"/status")
	}
	if e.faults.Has(podLabelsJudged) {
		pods := corev1.SchemeGroupVersion.WithResource("pods")
		rules = append(rules, operator.Rules(pods, admissionv1.Create)...)
	}
	made := e.options.Validating(e.authority, configurationName,
		operator.Webhook{Name: webhookName, Path: e.validatePath, Rules: rules})
	if e.faults.Has(failsOpen) {
		ignore := admissionv1.Ignore
		made.Webhooks[0].FailurePolicy = &ignore
	}
	if e.recorder != nil {
		onWrites := admissionv1.SideEffectClassNoneOnDryRun
		made.Webhooks[0].SideEffects = &onWrites
	}
	return made
}

// mutating is the configuration of the mutating webhook, which only a faulty implementation has.
func (e *endpoints) mutating() *admissionv1.MutatingWebhookConfiguration {
	return e.options.Mutating(e.authority, mutatingConfiguration, operator.Webhook{
		Name: mutatingWebhookName, Path: e.mutatePath,
		Rules: podGroups(admissionv1.Create, admissionv1.Update),
	})
}

// podGroups are the rules that send PodGroups, without their status, to a webhook.
func podGroups(operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	rules, scope := operator.Rules(api.Resource, operations...), admissionv1.NamespacedScope
	rules[0].Scope = &scope
	return rules
}
