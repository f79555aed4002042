package canary

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A controller that handles the workload late is awaited, also if the answer of its creation was lost, or if the API
// server could not decide at first. Otherwise the error says why it was not handled.
func TestHandled(t *testing.T) {
	kinds := []apitest.Kind{}
	for resource, kind := range workloads {
		kinds = append(kinds, apitest.Kind{
			GVK: resource.GroupVersion().WithKind(kind), Resource: resource.Resource, Namespaced: true,
		})
	}
	server := apitest.New(t, kinds...)
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	asked := map[string]int{}
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		switch asked[r.Verb+" "+r.Kind]++; {
		case r.Verb == "create" && r.Kind == "Deployment":
			return &apitest.Fault{Status: apitest.Status(403, "Forbidden", "a policy")}
		case r.Verb == "create" && r.Kind == "StatefulSet" && r.Number == 1:
			return &apitest.Fault{Stored: true}
		case r.Verb == "create" && r.Kind == "DaemonSet" && r.Number < 3:
			return &apitest.Fault{Status: apitest.Status(500, "InternalError", `failed calling webhook "a"`)}
		case r.Verb == "get" && r.Kind == "StatefulSet" && r.Number == 3:
			server.Render("statefulsets", r.Namespace, r.Name, func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, int64(1), "status", "observedGeneration") // cannot fail
			})
		}
		// The StatefulSet is deleted after it was found to be handled.
		done := asked["delete StatefulSet"] > 0 || asked["get StatefulSet"] > 100
		if asked["create DaemonSet"] >= 3 && asked["get DaemonSet"] >= 3 && done {
			cancel()
		}
		return nil
	})
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	errs := Handled(ctx, client, "one", Workloads())
	for resource, want := range map[string]string{
		"statefulsets": "<nil>", "deployments": "a policy", "daemonsets": "its status was not written",
	} {
		if err, known := errs[apps(resource)]; !known || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v after %v, want %q", resource, err, asked, want)
		}
	}
	for _, resource := range Workloads() {
		if n := server.Count(resource.Resource); n != 0 {
			t.Errorf("%d %s are left", n, resource.Resource)
		}
		if (history.Scope{}).Contains(workload(resource, "one")) {
			t.Errorf("a scenario would count the %s", workloads[resource])
		}
	}
}
