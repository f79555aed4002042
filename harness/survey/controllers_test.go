package survey

import (
	"context"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/canary"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A controller that worked before a transition, and does not handle a new object after it, is named. One that did not
// work before is not awaited.
func TestControllersAreAwaited(t *testing.T) {
	var kinds []apitest.Kind
	for _, resource := range canary.Workloads() {
		kinds = append(kinds, apitest.Kind{
			GVK: resource.GroupVersion().WithKind(resource.Resource), Resource: resource.Resource, Namespaced: true,
		})
	}
	server := apitest.New(t, kinds...)
	ctx, cancel := context.WithCancel(t.Context())
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "get" {
			cancel()
		}
		return nil
	})
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	if early := awaitControllers(ctx, client, Mark{}); early != "" || server.Requests("create", "") > 0 {
		t.Errorf("%q, %d objects were created", early, server.Requests("create", ""))
	}
	since := Mark{controllers: canary.Workloads()[:1]}
	const want = "the controller of daemonsets.apps has not handled a new object"
	if early := awaitControllers(ctx, client, since); !strings.Contains(early, want) {
		t.Errorf("got %q, want %q", early, want)
	}
	if working := workingControllers(ctx, client); len(working) > 0 {
		t.Errorf("work: %v", working)
	}
}
