package nodes

import (
	"fmt"
	"io"
	"net/http"
	"syscall"
)

// retriable makes kwok's controllers retry a write whose connection broke, and one that the API server could not do
// (500), as it answers while its storage or a webhook is away. They retry only if the connection was refused, or the
// server said that it is too busy (kwok v0.8.0), so a pod would stay pending for ever. Their writes are merge patches
// and deletions, which may be done twice.
type retriable struct{ http.RoundTripper }

func newRetriable(next http.RoundTripper) http.RoundTripper { return retriable{next} }

// RoundTrip implements http.RoundTripper.
func (t retriable) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	switch {
	case request.Method == http.MethodGet || request.Context().Err() != nil:
		return response, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", syscall.ECONNREFUSED, err)
	case response.StatusCode == http.StatusInternalServerError:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1024)) // the reason is for the log only
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: %s: %q", syscall.ECONNREFUSED, response.Status, text)
	}
	return response, nil
}
