package served_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/served"
)

const union = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
{"metadata":{"name":"scheduling.k8s.io"},"versions":[{"version":"v1alpha2","resources":[
{"resource":"workloads","responseKind":{"group":"","version":"","kind":"Workload"},"scope":"Namespaced","verbs":["get"]}]}]}]}`

// A kind that only a peer serves is found in aggregated discovery, if the API server forwards requests to its peers.
func TestPeers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/apis" || !strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
			return
		}
		_, _ = w.Write([]byte(union))
	}))
	defer server.Close()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	workload := schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1alpha2", Kind: "Workload"}
	var none *served.NotServedError
	if kind, err := served.NewKinds(client.RESTClient(), "1.36.3").Find(t.Context(), workload); !errors.As(err, &none) {
		t.Errorf("without peers: %v, %v", kind, err)
	}
	kinds := served.NewKinds(client.RESTClient(), "1.36.3")
	kinds.ExpectPeers()
	kind, err := kinds.Find(t.Context(), workload)
	if err != nil || !kind.Namespaced || kind.Resource.Resource != "workloads" {
		t.Errorf("with peers: %v, %v", kind, err)
	}
	if kind, err := kinds.Find(t.Context(), workload.GroupVersion().WithKind("PodGroup")); !errors.As(err, &none) {
		t.Errorf("a kind that no peer serves: %v, %v", kind, err)
	}
}
