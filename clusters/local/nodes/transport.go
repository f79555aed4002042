package nodes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

const (
	// retryEvery and retries say how often a write is tried at once. Then kwok tries it again, after 1, 3, 7, 15 s and so
	// on, and these retries begin again.
	retryEvery = time.Second
	retries    = 30
)

// retriable retries a write whose connection broke, and one that the API server could not do (500), as it answers while
// its storage or a webhook is away. kwok drops them (v0.8.0), so a pod would stay pending for ever, and it waits longer
// after each error. All these writes may be done twice: they name a UID or a resourceVersion, or a name that is there
// only once.
type retriable struct {
	http.RoundTripper
	every time.Duration
}

func newRetriable(next http.RoundTripper) http.RoundTripper { return retriable{next, retryEvery} }

// RoundTrip implements http.RoundTripper. Its last error is one that kwok retries: a refused connection.
func (t retriable) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet {
		return t.RoundTripper.RoundTrip(request)
	}
	var last error
	for range retries {
		response, err := t.RoundTripper.RoundTrip(request)
		if request.Context().Err() != nil {
			return response, err
		}
		last = failure(response, err)
		if last == nil {
			return response, nil
		}
		if request, err = t.again(request); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: tried %d times: %w", syscall.ECONNREFUSED, retries, last)
}

// failure returns why a write must be tried again, and nil if the API server decided on it.
func failure(response *http.Response, err error) error {
	if err != nil || response.StatusCode != http.StatusInternalServerError {
		return err
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1024)) // the reason is for the log only
	_ = response.Body.Close()
	return fmt.Errorf("%s: %q", response.Status, text)
}

// again returns the request for its next try, when it is time for it.
func (t retriable) again(request *http.Request) (*http.Request, error) {
	ctx := request.Context()
	if !pauses.For(ctx, t.every) {
		return nil, context.Cause(ctx)
	}
	next := request.Clone(ctx)
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		next.Body = body
	}
	return next, nil
}
