package upgrade

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// An object whose manifest has a version that is no longer served is not deleted, and does not count as deleted.
func TestObjectsWhoseVersionIsNoLongerServedAreKept(t *testing.T) {
	older := schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}
	newer := older.GroupKind().WithVersion("v1")
	server := apitest.New(t, apitest.Kind{GVK: older, Resource: "widgets", Namespaced: true},
		apitest.Kind{GVK: newer, Resource: "widgets", Namespaced: true})
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(
		"{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: a}}",
	)}.Load()
	golden.Must(t, err)
	r := &rehearsal{
		Options: Options{Progress: t.Logf, Path: Path{States: []clusters.State{{Version: "1.34.4"}, {Version: "1.35.4"}}}},
		report:  &upgrades.Report{Path: []*upgrades.State{{Name: "1.34.4"}, {Name: "1.35.4"}}},
		creator: creatorFor(t, server), host: hostOf(t, &fake{server: server, change: func() { server.Withdraw(older) }}),
	}
	created, left, err := r.creator.createAll(t.Context(), objects)
	if err != nil || len(left) > 0 {
		t.Fatalf("left %+v, %v", left, err)
	}
	if whole, err := r.converge(t.Context(), 1); !whole || err != nil {
		t.Fatalf("converge: %t, %v", whole, err)
	}
	removed, err := r.creator.remove(t.Context(), created)
	if err != nil || len(removed.kept) != 1 || len(removed.gone)+len(removed.going) > 0 {
		t.Fatalf("removed %+v, %v", removed, err)
	}
	golden.Error(t, removed.kept[0].err, "Widget of example.com/v1beta1 is not served by 1.35.4; v1 is served")
	if server.Object("widgets", "default", "a") == nil {
		t.Error("it was deleted")
	}
}

// A volume that a claim of a StatefulSet uses stays, and so does what every cluster maintains itself. A volume whose
// claim is deleted, too, is deleted.
func TestWhatStaysAtARedeployment(t *testing.T) {
	kind := func(name, resource string, namespaced bool) apitest.Kind {
		return apitest.Kind{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: name}, Resource: resource, Namespaced: namespaced,
		}
	}
	server := apitest.New(t, kind("PersistentVolume", "persistentvolumes", false),
		kind("PersistentVolumeClaim", "persistentvolumeclaims", true), kind("ServiceAccount", "serviceaccounts", true))
	objects := loaded(t, `
{apiVersion: v1, kind: PersistentVolume, metadata: {name: of-set}, spec: {claimRef: {namespace: default, name: data-web-0}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: given}, spec: {claimRef: {namespace: default, name: mine}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: free}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: mine}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}
`)
	c := creatorFor(t, server)
	created, left, err := c.createAll(t.Context(), objects)
	if err != nil || len(left) > 0 {
		t.Fatalf("left %+v, %v", left, err)
	}
	removed, err := c.remove(t.Context(), created)
	golden.Must(t, err)
	var gone []string
	for _, o := range removed.gone {
		gone = append(gone, o.Content.GetName())
	}
	slices.Sort(gone)
	if got := strings.Join(gone, " "); got != "free given mine" || len(removed.kept)+len(removed.going) > 0 {
		t.Errorf("gone: %s; %+v", got, removed)
	}
}

// A class that claims name, and that nothing creates, is created once.
func TestMakeClasses(t *testing.T) {
	server := apitest.New(t, apitest.Kind{
		GVK:      schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
		Resource: "storageclasses",
	})
	c := creatorFor(t, server)
	for _, want := range []string{"[gp3 standard]", "[]"} {
		made, err := c.makeClasses(t.Context(), []string{"gp3", "standard"})
		golden.Must(t, err)
		if got := fmt.Sprint(made); got != want {
			t.Errorf("made %s, want %s", got, want)
		}
	}
	if class := server.Object("storageclasses", "", "gp3"); class.Object["provisioner"] != clusters.SimulatedProvisioner {
		t.Errorf("got %v", class)
	}
}
