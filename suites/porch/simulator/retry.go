package simulator

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// retried retries something until it succeeds or the context ends: the cluster's API server may be down for a while.
func retried[T any](ctx context.Context, logger logr.Logger, try func() (T, error)) (T, error) {
	again := pauses.Growing(50*time.Millisecond, time.Second)
	for {
		result, err := try()
		if err == nil {
			return result, nil
		}
		logger.V(1).Info("trying again", "error", err.Error())
		if !pauses.Wait(ctx, again) {
			return result, ctx.Err()
		}
	}
}
