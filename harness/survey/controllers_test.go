package survey

import (
	"testing"

	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/canary"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// No controller is asked in a cluster that has no controller-manager, and none after a transition that did not work
// before it.
func TestControllersThatNeverWorkedAreNotAwaited(t *testing.T) {
	var kinds []apitest.Kind
	for _, resource := range canary.Workloads() {
		kinds = append(kinds, apitest.Kind{
			GVK: resource.GroupVersion().WithKind(resource.Resource), Resource: resource.Resource, Namespaced: true,
		})
	}
	server := apitest.New(t, kinds...)
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	if working := workingControllers(t.Context(), client); len(working) > 0 {
		t.Errorf("work: %v", working)
	}
	if early := awaitControllers(t.Context(), client, Mark{}); early != "" {
		t.Error(early)
	}
	for _, resource := range canary.Workloads() {
		if n := server.Requests("create", resource.Resource); n > 0 {
			t.Errorf("%d %s were created", n, resource.Resource)
		}
	}
}
