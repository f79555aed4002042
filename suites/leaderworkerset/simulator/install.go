package simulator

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// fieldManager owns the installed objects. The webhooks' registrations have its name, too.
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
	if s.behaviour.Liberties.Takes(libertyDefaultsInSchema) {
		policy.Default = &apiextensionsv1.JSON{Raw: []byte(`"Shared"`)}
		network.Default = &apiextensionsv1.JSON{Raw: []byte("{}")}
	}
	if s.behaviour.Liberties.Takes(libertyRestartNone) {
		groups := spec.Properties["leaderWorkerTemplate"].Properties
		restart := groups["restartPolicy"]
		restart.Default = &apiextensionsv1.JSON{Raw: []byte(`"None"`)}
		groups["restartPolicy"] = restart
	}
	network.Properties["subdomainPolicy"] = policy
	spec.Properties["networkConfig"] = network
	if s.behaviour.Variant == VariantBefore {
		delete(spec.Properties, "networkConfig")
	}
	return crd, nil
}

func (s *simulation) mutating() *admissionv1.MutatingWebhookConfiguration {
	return s.Mutating(s.authority, fieldManager, operator.Webhook{
		Name: "mleaderworkerset." + api.Group, Path: pathDefaultSet,
		Rules: operator.Rules(setResource, admissionv1.Create, admissionv1.Update),
	}, operator.Webhook{
		Name: "mpod." + api.Group, Path: pathMutatePod, Rules: operator.Rules(podResource, admissionv1.Create),
		// Other pods must not depend on this system.
		Selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: api.LabelName, Operator: metav1.LabelSelectorOpExists}},
		},
	})
}

func (s *simulation) validating() *admissionv1.ValidatingWebhookConfiguration {
	return s.Validating(s.authority, fieldManager, operator.Webhook{
		Name: "vleaderworkerset." + api.Group, Path: pathValidateSet,
		Rules: operator.Rules(setResource, admissionv1.Create, admissionv1.Update),
	}, operator.Webhook{
		Name: "vscale." + api.Group, Path: pathValidateScale, Rules: operator.Rules(scaleResource, admissionv1.Update),
	})
}

var (
	setResource   = api.GroupVersion.WithResource(api.Resource)
	scaleResource = api.GroupVersion.WithResource(api.Resource + "/scale")
	podResource   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)
