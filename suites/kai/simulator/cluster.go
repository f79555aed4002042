package simulator

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

const (
	// fieldManager owns the installed objects.
	fieldManager = "kai-simulator"
	// patience is the timeout of one request, pause the time until the next attempt.
	patience = 10 * time.Second
	pause    = 50 * time.Millisecond
)

// cluster is the API server in which the simulator is installed.
type cluster struct {
	client client.Client
	logger logr.Logger
}

func connect(config *rest.Config, logger logr.Logger) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.Timeout = patience
	config.QPS = -1
	scheme, err := operator.Scheme(admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme)
	if err != nil {
		return nil, fmt.Errorf("make the scheme of the installed objects: %w", err)
	}
	// The kinds are known, so the API server, which may be down, need not be asked for them.
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	return &cluster{client: c, logger: logger}, nil
}

// until retries until it succeeds, a permanent rejection, or the end of the context. The API server may be down for a
// while.
func (c *cluster) until(ctx context.Context, what string, try func(context.Context) (bool, error)) error {
	last := ""
	err := wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		done, err := try(ctx)
		switch {
		case err == nil:
			return done, nil
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			return false, err
		}
		if text := err.Error(); text != last && ctx.Err() == nil {
			last = text
			c.logger.Info("trying again", "what", what, "because", text)
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// apply creates or replaces an object.
func (c *cluster) apply(ctx context.Context, object client.Object) error {
	return c.until(ctx, "apply "+object.GetName(), func(ctx context.Context) (bool, error) {
		err := operator.Apply(ctx, c.client, fieldManager, object)
		return err == nil, err
	})
}

// remove returns when the object is gone.
func (c *cluster) remove(ctx context.Context, object client.Object) error {
	return c.until(ctx, "remove "+object.GetName(), func(ctx context.Context) (bool, error) {
		err := c.client.Delete(ctx, object)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}
