package simulator

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// fieldManager owns what is installed.
const fieldManager = "grove-simulator"

// The paths that are served.
const (
	pathValidate = "/webhooks/validate-podcliqueset"
	pathReady    = "/readyz"
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
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	c, err := client.New(s.RESTConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	crds, err := api.CustomResourceDefinitions()
	if err != nil {
		return err
	}
	gangs, err := scheduler.CustomResourceDefinition()
	if err != nil {
		return err
	}
	crds = append(crds, gangs)
	for _, crd := range crds {
		if err := apply(ctx, c, crd); err != nil {
			return err
		}
	}
	if err := apply(ctx, c, s.validating()); err != nil {
		return err
	}
	for _, crd := range crds {
		if err := established(ctx, c, crd.Name); err != nil {
			return err
		}
	}
	return nil
}

func established(ctx context.Context, c client.Client, name string) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var stored apiextensionsv1.CustomResourceDefinition
		if err := c.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
			return false, fmt.Errorf("wait for %s to be served: %w", name, err)
		}
		for _, condition := range stored.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}

func apply(ctx context.Context, c client.Client, object client.Object) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("write %s: %w", object.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: fields}
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("install %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

func (s *simulation) validating() *admissionv1.ValidatingWebhookConfiguration {
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	url := "https://" + net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) + pathValidate
	return &admissionv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "podcliqueset-validating-webhook"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:         "pcs.validating.webhooks.grove.io",
			ClientConfig: admissionv1.WebhookClientConfig{URL: &url, CABundle: s.authority},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule: admissionv1.Rule{
					APIGroups: []string{api.GroupVersion.Group}, APIVersions: []string{api.GroupVersion.Version}, Resources: []string{"podcliquesets"},
				},
			}},
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
