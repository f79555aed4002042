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

// A look that is due while a component is down is taken as soon as it is up again. Without it, there is no verdict.
func TestSurvivesLooksAsSoonAsItCan(t *testing.T) {
	const etcdAgain = "  - restart: {component: etcd}\n"
	for name, test := range map[string]struct {
		after   string
		deletes bool
		want    reports.Status
		says    string
	}{
		"it stays down":         {"", false, reports.Error, "nothing can be looked at, since etcd was killed"},
		"it is up again":        {etcdAgain, false, reports.Passed, ""},
		"an object was deleted": {etcdAgain, true, reports.Failed, "it was deleted"},
		"the scenario deletes it afterwards": {
			etcdAgain + "  - delete: {apiVersion: v1, kind: ConfigMap, name: a}\n", false, reports.Passed, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{serves: surveyed()}
			p.restart = func(_ context.Context, c *cluster) error {
				if test.deletes {
					c.server.Delete("configmaps", "one", "a")
				}
				return nil
			}
			run := ran(t, p, scenario("one", makeMap("a")+"  - name: up\n    transition: {version: \"1.35\"}\n"+
				"  - kill: {component: etcd}\n  - kill: {component: kube-apiserver}\n"+
				"  - name: again\n    restart: {component: kube-apiserver}\n"+test.after+
				"  - survives: {apiVersion: v1, kind: ConfigMap, name: a, settle: 1ms, throughout: [up, again]}\n"),
				harness.Options{})
			s := find(t, run, "one")
			if s.Status != test.want {
				t.Errorf("%s, want %s\n%s", s.Status, test.want, reports.Explain(s))
			}
			contains(t, s.Message, test.says)
		})
	}
}

// The time of survives ends with its last step, also if nothing in it changes the cluster.
func TestSurvivesLooksAtTheEndOfAQuietTime(t *testing.T) {
	run := ran(t, &provider{serves: surveyed()}, scenario("one", makeMap("a")+
		"  - name: quiet\n    eventually: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
		"  - delete: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
		"  - survives: {apiVersion: v1, kind: ConfigMap, name: a, settle: 1ms, throughout: [quiet, quiet]}\n"),
		harness.Options{})
	if s := find(t, run, "one"); s.Status != reports.Passed {
		t.Errorf("%s\n%s", s.Status, reports.Explain(s))
	}
}

// Each look sends dry runs, so it waits until the API server knows a policy of the scenario. This one never does.
func TestALaterLookWaitsForAPolicy(t *testing.T) {
	kinds := surveyed()
	for kind, resource := range map[string]string{
		"ValidatingAdmissionPolicy":        "validatingadmissionpolicies",
		"ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
	} {
		gvk := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind}
		kinds = append(kinds, apitest.Kind{GVK: gvk, Resource: resource})
	}
	run := ran(t, &provider{serves: kinds}, scenario("one", makeMap("a")+
		"  - name: still\n    eventually: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
		"  - name: it\n    create: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, "+
		"metadata: {name: \"${namespace}\"}}\n"+
		"  - survives: {apiVersion: v1, kind: ConfigMap, name: a, settle: 1ms, throughout: [still, it]}\n"+
		"    timeout: 1s\n"), harness.Options{})
	s := find(t, run, "one")
	if s.Status != reports.Error {
		t.Errorf("%s\n%s", s.Status, reports.Explain(s))
	}
	contains(t, s.Message, "knows each ValidatingAdmissionPolicy")
}

// A look that does not end is no verdict. Its time is that of the step, not of each request.
func TestALookTakesTooLong(t *testing.T) {
	p, over := &provider{serves: surveyed()}, make(chan struct{})
	defer close(over)
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb == "list" && r.Kind == "CustomResourceDefinition" {
			<-over
		}
		return nil
	}
	run := ran(t, p, scenario("one", makeMap("a")+
		"  - survives: {apiVersion: v1, kind: ConfigMap, name: a, now: true}\n    timeout: 1s\n"), harness.Options{})
	s := find(t, run, "one")
	if s.Status != reports.Error {
		t.Errorf("%s\n%s", s.Status, reports.Explain(s))
	}
	contains(t, s.Message, "a look at the cluster took longer than 1s")
}
