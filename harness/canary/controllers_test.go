package canary

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A controller that handles the workload late is awaited, also if the answer of its creation was lost. One that does
// not handle it is late. Nothing is known of one whose workload is rejected.
func TestHandled(t *testing.T) {
	kinds := []apitest.Kind{}
	for resource, kind := range workloads {
		kinds = append(kinds, apitest.Kind{
			GVK: resource.GroupVersion().WithKind(kind), Resource: resource.Resource, Namespaced: true,
		})
	}
	server := apitest.New(t, kinds...)
	ctx, cancel := context.WithCancel(t.Context())
	asked := map[string]int{}
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch asked[r.Verb+" "+r.Kind]++; {
		case r.Verb == "create" && r.Kind == "Deployment":
			return &apitest.Fault{Status: apitest.Status(403, "Forbidden", "a policy")}
		case r.Verb == "create" && r.Kind == "StatefulSet" && r.Number == 1:
			return &apitest.Fault{Stored: true}
		case r.Verb == "get" && r.Kind == "StatefulSet" && r.Number == 3:
			server.Render("statefulsets", r.Namespace, r.Name, func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, int64(1), "status", "observedGeneration") // cannot fail
			})
		case r.Verb == "get" && r.Kind == "DaemonSet" && r.Number == 3:
			cancel()
		}
		return nil
	})
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	of := Workloads()
	slices.Reverse(of)
	handled, late := Handled(ctx, client, "one", of)
	if !slices.Equal(handled, []schema.GroupVersionResource{apps("statefulsets")}) || asked["get StatefulSet"] < 3 {
		t.Errorf("handled %v after %v", handled, asked)
	}
	if !slices.Equal(late, []schema.GroupVersionResource{apps("daemonsets")}) {
		t.Errorf("late %v", late)
	}
	for _, resource := range of {
		if n := server.Count(resource.Resource); n != 0 {
			t.Errorf("%d %s are left", n, resource.Resource)
		}
		if (history.Scope{}).Contains(workload(resource, "one")) {
			t.Errorf("a scenario would count the %s", workloads[resource])
		}
	}
}
