// Package simulator is a small implementation of KAI's PodGroup and its validating webhook, written from the
// specification of lowercase sub group names. It has bugs on request.
package simulator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Name of the simulated system.
const Name = "kai"

// Options describe where the simulator runs and how it behaves.
type Options = operator.Options

// Run installs the simulator and serves its webhooks until the context ends, which is not an error. The installed
// objects stay.
//
// On the webhooks' port, /readyz answers 200 once the API server validates PodGroups as this variant does.
func Run(ctx context.Context, options Options) error {
	implementation, err := newImplementation(options.Variant, options.Faults, options.Liberties)
	implementation.liberties = implementation.liberties.Noting(options.Taken)
	if err != nil {
		return err
	}
	cluster, err := connect(options.RESTConfig, options.Logger)
	if err != nil {
		return err
	}
	endpoints, err := newEndpoints(implementation, options)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if implementation.liberties.Has(liberty.MoreEvents) {
		if endpoints.recorder, err = newRecorder(ctx, options.RESTConfig); err != nil {
			return err
		}
	}
	served := make(chan error, 1)
	go func() {
		defer cancel()
		served <- endpoints.serve(ctx)
	}()
	err = endpoints.install(ctx, cluster)
	switch {
	case ctx.Err() != nil: // the error is only a consequence
		err = nil
	case err != nil:
		cancel()
	}
	<-ctx.Done()
	select {
	case serveErr := <-served:
		if serveErr != nil {
			err = errors.Join(err, fmt.Errorf("serve webhooks at %s:%d: %w", options.Host, options.Port, serveErr))
		}
	case <-time.After(grace):
	}
	return err
}

// grace is how long requests in progress may take when the simulator ends.
const grace = 200 * time.Millisecond
