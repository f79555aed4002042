package simulator

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// install makes the cluster validate PodGroups as the implementation does, and then reports ready at /readyz.
func (e *endpoints) install(ctx context.Context, c *cluster) error {
	crd, err := e.installDefinition(ctx, c)
	if err != nil {
		return err
	}
	if err := e.installWebhooks(ctx, c); err != nil {
		return err
	}
	if err := e.settle(ctx, c, crd); err != nil {
		return err
	}
	e.ready.Store(true)
	e.options.Logger.Info("ready", "variant", e.variant)
	return nil
}

// installDefinition returns the CustomResourceDefinition that the cluster then has.
func (e *endpoints) installDefinition(ctx context.Context, c *cluster) (*apiextensionsv1.CustomResourceDefinition,
	error,
) {
	crd, err := e.definition()
	if err != nil {
		return nil, err
	}
	if e.faults.Has(crdNeverUpgraded) {
		before, err := c.definition(ctx, crd.Name)
		if before != nil || err != nil {
			return before, err
		}
	}
	return crd, c.apply(ctx, crd)
}

// definition reads a CustomResourceDefinition; nil if there is none.
func (c *cluster) definition(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := c.until(ctx, "read "+name, func(ctx context.Context) (bool, error) {
		err := c.client.Get(ctx, client.ObjectKey{Name: name}, crd)
		if apierrors.IsNotFound(err) {
			crd = nil
			return true, nil
		}
		return err == nil, err
	})
	return crd, err
}

// installWebhooks removes the configurations that the implementation does not have.
func (e *endpoints) installWebhooks(ctx context.Context, c *cluster) error {
	for _, webhook := range []struct {
		wanted        bool
		configuration client.Object
	}{
		{e.hasWebhook(), e.validating()},
		{e.mutates(), e.mutating()},
	} {
		put := c.remove
		if webhook.wanted {
			put = c.apply
		}
		if err := put(ctx, webhook.configuration); err != nil {
			return fmt.Errorf("install the webhooks: %w", err)
		}
	}
	return nil
}
