package nodes

import (
	"fmt"
	"net/http"
	"syscall"
)

// retriable makes kwok's controllers retry a write whose connection broke. They retry only if it was refused (kwok
// v0.8.0), so a pod would stay pending if the API server was killed at that moment. Their writes are merge patches and
// deletions, which may be done twice.
type retriable struct{ http.RoundTripper }

func newRetriable(next http.RoundTripper) http.RoundTripper { return retriable{next} }

// RoundTrip implements http.RoundTripper.
func (t retriable) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err != nil && request.Method != http.MethodGet && request.Context().Err() == nil {
		return nil, fmt.Errorf("%w: %w", syscall.ECONNREFUSED, err)
	}
	return response, err
}
