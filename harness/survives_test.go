package harness_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// surveyed are the kinds that every survey reads or watches.
func surveyed() []apitest.Kind {
	kinds := apitest.Extensions()
	for kind, in := range map[string]schema.GroupVersionResource{
		"ReplicaSet":         {Group: "apps", Version: "v1", Resource: "replicasets"},
		"ControllerRevision": {Group: "apps", Version: "v1", Resource: "controllerrevisions"},
		"Job":                {Group: "batch", Version: "v1", Resource: "jobs"},
		"EndpointSlice":      {Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
		"Lease":              {Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	} {
		kinds = append(kinds, apitest.Kind{GVK: in.GroupVersion().WithKind(kind), Resource: in.Resource, Namespaced: true})
	}
	return kinds
}

// While a snapshot is put back, no survey watches: the watch would continue with resourceVersions of another past.
func TestNoSurveyWatchesDuringARestore(t *testing.T) {
	p := &provider{serves: surveyed()}
	p.restoring = func(ctx context.Context, c *cluster) error {
		none := make(chan struct{})
		go func() {
			c.server.AwaitWatches(0)
			close(none)
		}()
		select {
		case <-none:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	run := ran(t, p, scenario("one", makeMap("a")+"  - snapshot: {name: before}\n"+makeMap("b")+
		"  - name: back\n    restore: {name: before}\n    timeout: 10s\n"+
		"  - survives: {apiVersion: v1, kind: ConfigMap, name: a, settle: 1ms, throughout: [back, back]}\n"),
		harness.Options{})
	if s := find(t, run, "one"); s.Status != reports.Passed {
		t.Errorf("%s\n%s", s.Message, reports.Explain(s))
	}
}
