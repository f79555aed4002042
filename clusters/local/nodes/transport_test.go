package nodes

import (
	"net/http"
	"net/http/httptest"
	"testing"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// kwok retries only writes that were refused.
func TestWritesCanBeRetried(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/failed":
			w.WriteHeader(http.StatusInternalServerError)
		case "/rejected":
			w.WriteHeader(http.StatusConflict)
		}
	}))
	defer server.Close()
	client := &http.Client{Transport: newRetriable(http.DefaultTransport)}
	for _, test := range []struct {
		method, path string
		answered     int
		retried      bool
	}{
		{http.MethodPatch, "/broken", 0, true},
		{http.MethodDelete, "/broken", 0, true},
		{http.MethodGet, "/broken", 0, false},
		{http.MethodPatch, "/failed", 0, true},
		{http.MethodGet, "/failed", 500, false},
		{http.MethodPatch, "/rejected", 409, false},
		{http.MethodPatch, "/", 200, false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+test.path, nil)
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
			t.Errorf("%s %s: answered %d, error %v, retried %t; want %d, retried %t", test.method, test.path, answered,
				err, retried, test.answered, test.retried)
		}
	}
}
