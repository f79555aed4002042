package nodes

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// A server that fails for a while answers a write in the end, with its body. kwok itself retries only what was refused.
func TestWritesAreRetried(t *testing.T) {
	for _, test := range []struct {
		name, method string
		fail         func(http.ResponseWriter)
		failures     int64
		answered     int
		retried      bool
	}{
		{"a broken connection", http.MethodPatch, abort, 3, 200, false},
		{"a failed write", http.MethodPatch, answer(500), 3, 200, false},
		{"a failed write for long", http.MethodPatch, answer(500), retries, 0, true},
		{"a connection that always breaks", http.MethodDelete, abort, retries, 0, true},
		{"a rejected write", http.MethodPatch, answer(409), 1, 409, false},
		{"a failed read", http.MethodGet, answer(500), 1, 500, false},
		{"a broken read", http.MethodGet, abort, retries, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tries atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != "patch" {
					t.Errorf("body %q, error %v", body, err)
				}
				if tries.Add(1) <= test.failures {
					test.fail(w)
				}
			}))
			defer server.Close()
			client := &http.Client{Transport: retriable{http.DefaultTransport, time.Millisecond}}
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL, strings.NewReader("patch"))
			if err != nil {
				t.Fatal(err)
			}
			answered := 0
			response, err := client.Do(request)
			if err == nil {
				answered = response.StatusCode
				_ = response.Body.Close()
			}
			if retried := utilnet.IsConnectionRefused(err); retried != test.retried || answered != test.answered {
				t.Errorf("answered %d, error %v, retried by kwok: %t; want %d, %t", answered, err, retried, test.answered,
					test.retried)
			}
		})
	}
}

func abort(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func answer(status int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(status) }
}
