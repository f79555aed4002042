package operator

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Scheme returns a scheme of the kinds that these functions add.
func Scheme(adds ...func(*runtime.Scheme) error) (*runtime.Scheme, error) {
	scheme, all := runtime.NewScheme(), runtime.NewSchemeBuilder(adds...)
	return scheme, all.AddToScheme(scheme)
}

// Install applies definitions of an API and registrations of webhooks as the field manager, and waits until the API is
// served.
func Install(ctx context.Context, config *rest.Config, fieldManager string, objects ...client.Object) error {
	scheme, err := Scheme(apiextensionsv1.AddToScheme, admissionv1.AddToScheme)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("reach the API server: %w", err)
	}
	for _, object := range objects {
		if err := Apply(ctx, c, fieldManager, object); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
			if err := established(ctx, c, crd.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Apply creates or replaces an object; its fields become the field manager's.
func Apply(ctx context.Context, c client.Client, fieldManager string, object client.Object) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("write %s: %w", object.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: fields}
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager),
		client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("install %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

func established(ctx context.Context, c client.Client, name string) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
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
