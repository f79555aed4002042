package writes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

func TestAnAbortedRequestIsExplained(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	defer web.Close()
	config := &rest.Config{Host: web.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	err = client.RESTClient().Post().AbsPath("/api").Do(t.Context()).Error()
	if !writes.Aborted(err) || !strings.Contains(writes.Words(err), "as it does after a panic") {
		t.Errorf("%v: %s", err, writes.Words(err))
	}
	web.Close()
	err = client.RESTClient().Post().AbsPath("/api").Do(t.Context()).Error()
	if writes.Aborted(err) || strings.Contains(writes.Words(err), "panic") {
		t.Errorf("a closed port: %s", writes.Words(err))
	}
}
