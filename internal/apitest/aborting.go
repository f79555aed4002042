package apitest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

// Aborting starts an API server that aborts each request, as after a panic. stop ends it before the test does.
func Aborting(t testing.TB) (config *rest.Config, stop func()) {
	t.Helper()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	return &rest.Config{Host: web.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, web.Close
}
