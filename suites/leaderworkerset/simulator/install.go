package simulator

import (
	"context"
	"net"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// fieldManager owns the installed objects.
const fieldManager = "leaderworkerset-simulator"

// The paths of the webhooks.
const (
	pathDefaultSet    = "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
	pathValidateSet   = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
	pathValidateScale = "/validate-leaderworkerset-x-k8s-io-v1-scale"
	pathMutatePod     = "/mutate--v1-pod"
	// pathValidatePod is also used by the webhook configurations of kubernetes-sigs/lws. This simulator's do not use
	// it, and it rejects nothing.
	pathValidatePod = "/validate--v1-pod"
)

// install writes the API's definition and the webhooks' registration, and waits until the API is served.
func (s *simulation) install(ctx context.Context) error {
	crd, err := s.definition()
	if err != nil {
		return err
	}
	return operator.Install(ctx, s.RESTConfig, fieldManager, crd, s.mutating(), s.validating())
}

// definition is the API's definition in this run.
func (s *simulation) definition() (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := api.CustomResourceDefinition()
	if err != nil {
		return nil, err
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	network := spec.Properties["networkConfig"]
	policy := network.Properties["subdomainPolicy"]
	if s.behaviour.Has(faultAcceptsAnyPolicy) {
		policy.Enum = nil
	}
	if s.behaviour.Has(faultKeepsUnknownFields) {
		keep := true
		network.XPreserveUnknownFields = &keep
	}
	if s.behaviour.Liberties.Has(libertyDefaultsInSchema) {
		policy.Default = &apiextensionsv1.JSON{Raw: []byte(`"Shared"`)}
		network.Default = &apiextensionsv1.JSON{Raw: []byte("{}")}
	}
	network.Properties["subdomainPolicy"] = policy
	spec.Properties["networkConfig"] = network
	if s.behaviour.Variant == VariantBefore {
		delete(spec.Properties, "networkConfig")
	}
	return crd, nil
}

func (s *simulation) clientConfig(path string) admissionv1.WebhookClientConfig {
	url := "https://" + net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) + path
	return admissionv1.WebhookClientConfig{URL: &url, CABundle: s.authority}
}

func rules(gvr schema.GroupVersionResource, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionv1.Rule{
			APIGroups: []string{gvr.Group}, APIVersions: []string{gvr.Version},
			Resources: []string{gvr.Resource},
		},
	}}
}

func (s *simulation) mutating() *admissionv1.MutatingWebhookConfiguration {
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	webhook := func(name, path string, rules []admissionv1.RuleWithOperations,
		selector *metav1.LabelSelector,
	) admissionv1.MutatingWebhook {
		return admissionv1.MutatingWebhook{
			Name: name, ClientConfig: s.clientConfig(path), Rules: rules, ObjectSelector: selector,
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}
	}
	return &admissionv1.MutatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionv1.SchemeGroupVersion.String(),
			Kind:       "MutatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: "leaderworkerset-simulator"},
		Webhooks: []admissionv1.MutatingWebhook{
			webhook("mleaderworkerset."+api.Group, pathDefaultSet, rules(setResource, admissionv1.Create, admissionv1.Update),
				nil),
			// Other pods must not depend on this system.
			webhook("mpod."+api.Group, pathMutatePod, rules(podResource, admissionv1.Create), &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: api.LabelName, Operator: metav1.LabelSelectorOpExists}},
			}),
		},
	}
}

func (s *simulation) validating() *admissionv1.ValidatingWebhookConfiguration {
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	webhook := func(name, path string, rules []admissionv1.RuleWithOperations) admissionv1.ValidatingWebhook {
		return admissionv1.ValidatingWebhook{
			Name: name, ClientConfig: s.clientConfig(path), Rules: rules,
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}
	}
	return &admissionv1.ValidatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionv1.SchemeGroupVersion.String(),
			Kind:       "ValidatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: "leaderworkerset-simulator"},
		Webhooks: []admissionv1.ValidatingWebhook{
			webhook("vleaderworkerset."+api.Group, pathValidateSet, rules(setResource, admissionv1.Create, admissionv1.Update)),
			webhook("vscale."+api.Group, pathValidateScale, rules(scaleResource, admissionv1.Update)),
		},
	}
}

var (
	setResource   = api.GroupVersion.WithResource(api.Resource)
	scaleResource = api.GroupVersion.WithResource(api.Resource + "/scale")
	podResource   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)
