package simulator

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-logr/logr"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// retried retries something until it succeeds or the context ends: the cluster's API server may be down for a while.
func retried[T any](ctx context.Context, logger logr.Logger, try func() (T, error)) (T, error) {
	again := pauses.Growing(50*time.Millisecond, time.Second)
	return backoff.RetryNotifyWithData(try, backoff.WithContext(again, ctx), func(err error, after time.Duration) {
		logger.V(1).Info("trying again", "after", after, "error", err.Error())
	})
}
