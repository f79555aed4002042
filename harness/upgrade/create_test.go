package upgrade

import (
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/apitest"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/served"
)

// An object that is given with and without the default namespace is given twice. The second one is rejected at once,
// and not written over the first one, however often both are tried.
func TestObjectsThatAreGivenTwice(t *testing.T) {
	server := apitest.New(t)
	found, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	c := &creator{
		client: client, kinds: served.NewKinds(found.RESTClient(), "1.34.4"), namespace: "default", progress: t.Logf,
		given: map[identity]*manifests.Object{},
	}
	objects, err := manifests.Load([]string{manifests.Stdin}, strings.NewReader(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: first}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {x: second}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}
---
{apiVersion: v1, kind: Secret, metadata: {name: a}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, namespace: default}}
`))
	if err != nil {
		t.Fatal(err)
	}
	server.Serve(apitest.Kind{GVK: objects[3].GVK(), Resource: "secrets", Namespaced: true})
	created, left, err := c.createAll(t.Context(), objects)
	if err != nil || len(created) != 4 {
		t.Errorf("%d created, %v", len(created), err)
	}
	const want = "stdin:4: ConfigMap default/a is also at stdin:2; remove one of them"
	if len(left) != 1 || left[0].err.Error() != want || mayPass(left[0]) {
		t.Errorf("left %+v, want %s", left, want)
	}
	if created, left, err = c.createAll(t.Context(), objects[:1]); err != nil || len(created) != 1 || len(left) > 0 {
		t.Errorf("again: %d created, left %+v, %v", len(created), left, err)
	}
}
