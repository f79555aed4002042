package simulator

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// fieldManager owns the installed objects.
const fieldManager = "grove-simulator"

// The served paths.
const (
	pathValidate = "/webhooks/validate-podcliqueset"
)

func newScheme() (*runtime.Scheme, error) {
	return operator.Scheme(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme,
		scheduler.AddToScheme, kaiapi.AddToScheme)
}

// install writes the API's definitions and the webhook's registration, and waits until the API is served.
func (s *simulation) install(ctx context.Context) error {
	crds, err := api.CustomResourceDefinitions()
	if err != nil {
		return err
	}
	gangs, err := scheduler.CustomResourceDefinition()
	if err != nil {
		return err
	}
	if s.behaviour.Liberties.Takes(libertyNoPhase) {
		withoutPhase(gangs)
	}
	objects := []client.Object{gangs, s.validating()}
	for _, crd := range crds {
		if s.behaviour.Has(faultTopologyNotInSchema) {
			withoutTopologyFields(crd)
		}
		objects = append(objects, crd)
	}
	return operator.Install(ctx, s.RESTConfig, fieldManager, objects...)
}

// withoutPhase removes the phase from the status of a definition.
func withoutPhase(crd *apiextensionsv1.CustomResourceDefinition) {
	for _, version := range crd.Spec.Versions {
		delete(version.Schema.OpenAPIV3Schema.Properties["status"].Properties, "phase")
	}
}

func (s *simulation) validating() *admissionv1.ValidatingWebhookConfiguration {
	return s.Validating(s.authority, "podcliqueset-validating-webhook", operator.Webhook{
		Name: "pcs.validating.webhooks.grove.io", Path: pathValidate,
		Rules: operator.Rules(api.GroupVersion.WithResource("podcliquesets"), admissionv1.Create, admissionv1.Update),
	})
}
