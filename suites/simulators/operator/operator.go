// Package operator is shared by simulated systems: their configuration, and how they survive restarts of the API
// server, install their API, serve webhooks, and report readiness.
package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// Run repeats something until the context ends, which is not an error. Every error is logged and retried, except an
// address that cannot be used, and a backoff.PermanentError.
func Run(ctx context.Context, logger logr.Logger, once func(context.Context) error) error {
	log.SetLogger(logger) // some parts of controller-runtime require it
	again := pauses.Growing(100*time.Millisecond, 2*time.Second)
	return backoff.Retry(func() error {
		err := once(ctx)
		var permanent *backoff.PermanentError
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			return errors.New("the manager ended without a reason")
		case errors.As(err, &permanent):
			return err
		case errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EADDRNOTAVAIL):
			return backoff.Permanent(fmt.Errorf("serve: %w; choose another host or port", err))
		}
		logger.Error(err, "starting again")
		return err
	}, backoff.WithContext(again, context.WithoutCancel(ctx)))
}

// Unthrottled is the configuration of a client without rate limits: the API server's own fairness is enough.
func Unthrottled(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.QPS = -1
	return c
}

// Authority reads the authority that signed the serving certificate of a folder. That certificate must exist, too.
func Authority(dir string) ([]byte, error) {
	for _, name := range []string{"tls.crt", "tls.key"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("find the serving certificate: %w", err)
		}
	}
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the authority of the serving certificate: %w", err)
	}
	return authority, nil
}
