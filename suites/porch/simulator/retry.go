package simulator

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-logr/logr"
)

// retried retries something until it succeeds or the context ends: the cluster's API server may be down for a while.
func retried[T any](ctx context.Context, logger logr.Logger, try func() (T, error)) (T, error) {
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(time.Second), backoff.WithMaxElapsedTime(0))
	return backoff.RetryNotifyWithData(try, backoff.WithContext(pause, ctx), func(err error, after time.Duration) {
		logger.V(1).Info("trying again", "after", after, "error", err.Error())
	})
}
