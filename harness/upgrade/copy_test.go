package upgrade_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The objects of a live cluster show what its upgrade would do (G1: every StatefulSet restarts). The report lists what
// the copy lacks as not judged.
func TestUpgradeOfACopy(t *testing.T) {
	p := clustertest.Local(t)
	captured := captureOf(t, p, "1.33", "testdata/red/statefulset.yaml", "testdata/copied.yaml")
	recorder, err := transplant.NewRecorder(t.Context(), nil, time.Now())
	golden.Must(t, err)
	defer recorder.Close()
	copied, err := transplant.New(transplant.FromCapture(captured), transplant.Options{
		Name: "prod", Webhooks: recorder,
		Now: time.Now,
	})
	golden.Must(t, err)
	first, err := transplant.FirstState(t.Context(), p, p.Releases, &captured.Index, copied, clusters.Change{})
	golden.Must(t, err)
	off := false
	path, err := upgrade.NewPath(t.Context(), p, upgrade.Wanted{
		From: first, To: clusters.Change{
			Version:      "1.34.4",
			FeatureGates: map[string]*bool{"StatefulSetSemanticRevisionComparison": &off},
		}, NoRollback: true,
	})
	golden.Must(t, err)
	r, err := upgrade.Run(t.Context(), upgrade.Options{
		Provider: p, Path: path, Settle: 3 * time.Second, Features: p.Releases, Progress: t.Logf,
		Origin: &upgrade.Origin{Copy: copied, Called: recorder.Notes},
	})
	golden.Must(t, err)
	want := []string{
		"breaks: moved StatefulSet default/web [1] the rollback was not rehearsed",
		"not judged: copy APIService v1.elsewhere.example.com [0] ",
		"not judged: copy CustomResourceDefinition shapes.example.com [0] ",
	}
	if got := said(r); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if !slices.ContainsFunc(r.Notes, func(note string) bool {
		return strings.HasPrefix(note, "webhook gatekeeper/check.example.com was not run")
	}) {
		t.Errorf("no note about the webhook: %q", r.Notes)
	}
	text, err := json.Marshal(r)
	golden.Must(t, err)
	if strings.Contains(string(text), "swordfish") || strings.Contains(string(text),
		strings.Repeat("x", len("swordfish-of-production"))) {
		t.Error("the report has the value of a Secret")
	}
}

// captureOf returns the capture of a cluster with these objects. The cluster is deleted afterwards.
func captureOf(t *testing.T, p *local.Provider, version string, files ...string) *capture.Capture {
	t.Helper()
	state, err := p.Resolve(t.Context(), clusters.State{Version: version, Nodes: []clusters.NodeGroup{{}}})
	golden.Must(t, err)
	cluster, err := p.Create(t.Context(), "original", state)
	golden.Must(t, err)
	defer func() { golden.Must(t, cluster.Delete(t.Context())) }()
	objects, err := manifests.Sources{Paths: files}.Load()
	golden.Must(t, err)
	for _, o := range manifests.InOrder(objects) {
		create(t, cluster.RESTConfig(), o)
	}
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	golden.Must(t, err)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		list, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).List(t.Context(),
			metav1.ListOptions{})
		if err == nil && len(list.Items) == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are no pods: %v", err)
		}
	}
	source, err := capture.NewSource("prod", cluster.RESTConfig())
	golden.Must(t, err)
	var held bytes.Buffer
	_, err = source.Export(t.Context(), &held, capture.Options{Progress: t.Logf, Now: time.Now})
	golden.Must(t, err)
	captured, err := capture.InMemory("prod", held.Bytes())
	golden.Must(t, err)
	if len(captured.Missing) > 0 {
		t.Errorf("not read: %v", captured.Missing)
	}
	return captured
}

// create retries until the kinds that the object needs are served.
func create(t *testing.T, config *rest.Config, o *manifests.Object) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	golden.Must(t, err)
	found, err := discovery.NewDiscoveryClientForConfig(config)
	golden.Must(t, err)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		groups, err := restmapper.GetAPIGroupResources(found)
		golden.Must(t, err)
		mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(o.GVK().GroupKind(), o.GVK().Version)
		if err == nil {
			api := dynamic.ResourceInterface(client.Resource(mapping.Resource))
			if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
				api = client.Resource(mapping.Resource).Namespace("default")
			}
			if _, err = api.Create(t.Context(), o.Content, metav1.CreateOptions{}); err == nil {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", o, err)
		}
	}
}
