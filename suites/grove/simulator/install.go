package simulator

import (
	"context"
	"net"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme, scheduler.AddToScheme, kaiapi.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
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
	objects := []client.Object{gangs, s.validating()}
	for _, crd := range crds {
		objects = append(objects, crd)
	}
	return operator.Install(ctx, s.RESTConfig, fieldManager, objects...)
}

func (s *simulation) validating() *admissionv1.ValidatingWebhookConfiguration {
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	url := "https://" + net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) + pathValidate
	return &admissionv1.ValidatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionv1.SchemeGroupVersion.String(),
			Kind:       "ValidatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: "podcliqueset-validating-webhook"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:         "pcs.validating.webhooks.grove.io",
			ClientConfig: admissionv1.WebhookClientConfig{URL: &url, CABundle: s.authority},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule: admissionv1.Rule{
					APIGroups: []string{api.GroupVersion.Group}, APIVersions: []string{api.GroupVersion.Version},
					Resources: []string{"podcliquesets"},
				},
			}},
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
