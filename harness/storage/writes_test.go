package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// writer is a cluster with these writes.
type writer struct {
	clusters.Cluster
	written map[int64][]string
	err     error
	server  *apitest.Server
}

func (w writer) Written(_ context.Context, after, upTo int64) (map[int64][]string, error) {
	if after != 1 || upTo != 9 {
		return nil, fmt.Errorf("asked for %d to %d", after, upTo)
	}
	return w.written, w.err
}

func (w writer) RESTConfig() *rest.Config { return w.server.Config() }

func (writer) Name() string { return "x" }

// Another API server has its own storage, whose revisions are other ones.
func TestWritesToAnotherStorage(t *testing.T) {
	server := newServer(t)
	for group, service := range map[string]any{"metrics.example.com": map[string]any{"name": "metrics"}, "example.com": nil} {
		spec := map[string]any{"group": group, "version": "v1"}
		if service != nil {
			spec["service"] = service
		}
		server.Put(apiServices.Resource, map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
			"metadata": map[string]any{"name": "v1." + group}, "spec": spec,
		})
	}
	w := writer{written: map[int64][]string{2: {"/registry/metrics.example.com/pods/x/web"}}, server: server}
	_, err := Writes(w)(t.Context(), schema.GroupResource{Group: "metrics.example.com", Resource: "pods"}, 1, 9)
	if err == nil || !strings.Contains(err.Error(), "APIService v1.metrics.example.com") {
		t.Errorf("got %v, want an error that names the APIService", err)
	}
	if _, err := Writes(w)(t.Context(), schema.GroupResource{Group: "example.com", Resource: "pods"}, 1, 9); err != nil {
		t.Error(err)
	}
	server.Reject(func(apitest.Request) *metav1.Status {
		return apitest.Failure(503, metav1.StatusReasonServiceUnavailable)
	})
	if _, err := Writes(w)(t.Context(), schema.GroupResource{Group: "example.com", Resource: "pods"}, 1, 9); err == nil {
		t.Error("got no error, though the API server did not say who serves the group")
	}
}

func newServer(t *testing.T) *apitest.Server {
	t.Helper()
	return apitest.New(t, apitest.Kind{GVK: apiServices.GroupVersion().WithKind("APIService"), Resource: apiServices.Resource})
}

// A revision is left out only if its key is certainly of another resource.
func TestWrites(t *testing.T) {
	w := writer{server: newServer(t), written: map[int64][]string{
		2: {"/registry/pods/x/web"},
		3: {"/registry/services/specs/x/web"},
		4: {"/registry/services/endpoints/x/web"},
		5: {"/registry/example.com/pods/x/web"},
		6: {"/registry/deployments/x/web"},
		7: {"compact_rev_key"},
		8: {"/registry/leases/x/a", "/registry/fromthefuture/x/web"},
	}}
	for resource, want := range map[schema.GroupResource]string{
		{Resource: "pods"}:                                 "[2 8]",
		{Resource: "services"}:                             "[3 8]",
		{Resource: "endpoints"}:                            "[4 8]",
		{Group: "example.com", Resource: "pods"}:           "[2 5 8]",
		{Group: "example.com", Resource: "widgets"}:        "[8]",
		{Group: "extensions", Resource: "deployments"}:     "[6 8]",
		{Group: "apps", Resource: "deployments"}:           "[6 8]",
		{Group: "coordination.k8s.io", Resource: "leases"}: "[8]",
	} {
		got, err := Writes(w)(t.Context(), resource, 1, 9)
		golden.Must(t, err)
		slices.Sort(got)
		if fmt.Sprint(got) != want {
			t.Errorf("%s: revisions %v, want %s", resource, got, want)
		}
	}
	w.err = errors.New("compacted")
	if _, err := Writes(w)(t.Context(), schema.GroupResource{Resource: "pods"}, 1, 9); !errors.Is(err, w.err) {
		t.Errorf("got %v, want the error of the cluster", err)
	}
	if Writes(struct{ clusters.Cluster }{}) != nil {
		t.Error("a cluster that cannot be asked has no writes")
	}
}
