package upgrade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func creatorFor(t *testing.T, server *apitest.Server) *creator {
	t.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(server.Config())
	golden.Must(t, err)
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	return &creator{
		client: client, kinds: served.NewKinds(found.RESTClient(), "1.34.4"), namespace: "default", progress: t.Logf,
		given: map[identity]*manifests.Object{},
	}
}

// An object that is given with and without the default namespace is given twice. The second one is rejected at once,
// and not written over the first one, however often both are tried.
func TestObjectsThatAreGivenTwice(t *testing.T) {
	server := apitest.New(t)
	c := creatorFor(t, server)
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: first}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {x: second}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}
---
{apiVersion: v1, kind: Secret, metadata: {name: a}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, namespace: default}}
`)}.Load()
	golden.Must(t, err)
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

// The StorageClass that a local cluster begins with makes room for a given one of its name, and for another default.
func TestDefaultClassMakesRoom(t *testing.T) {
	const first = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: "
	const simulated = first + "rehearse.dev/simulated, metadata: {name: standard}}"
	for name, test := range map[string]struct{ begins, given, want string }{
		"of its name": {simulated, first + "a.example.com, metadata: {name: standard}}", "standard=a.example.com"},
		"another default": {
			simulated,
			first + `a.example.com, metadata: {name: a, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}}`,
			"a=a.example.com",
		},
		"another": {
			simulated, first + "a.example.com, metadata: {name: a}}",
			"a=a.example.com standard=rehearse.dev/simulated",
		},
		"a default beside a user's": {
			first + "b.example.com, metadata: {name: standard}}",
			first + `a.example.com, metadata: {name: a, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}}`,
			"a=a.example.com standard=b.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			begins, err1 := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(test.begins)}.Load()
			given, err2 := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(test.given)}.Load()
			golden.Must(t, errors.Join(err1, err2))
			kind := apitest.Kind{GVK: given[0].GVK(), Resource: "storageclasses"}
			server.Serve(kind)
			server.Put(kind.Resource, begins[0].Content.Object)
			c := creatorFor(t, server)
			if _, left, err := c.createAll(t.Context(), given); err != nil || len(left) > 0 {
				t.Fatalf("left %+v, %v", left, err)
			}
			resource := kind.GVK.GroupVersion().WithResource(kind.Resource)
			list, err := c.client.Resource(resource).List(t.Context(), metav1.ListOptions{})
			golden.Must(t, err)
			var got []string
			for _, class := range list.Items {
				got = append(got, fmt.Sprintf("%s=%s", class.GetName(), class.Object["provisioner"]))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != test.want {
				t.Errorf("classes %q, want %s", got, test.want)
			}
		})
	}
}
