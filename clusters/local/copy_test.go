package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// stored are objects that a system may leave in a cluster. Its webhook does not run.
var stored = []string{`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: default}
data: {a: b}
`}

const webhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: dead}
webhooks:
- name: dead.example.dev
  clientConfig: {url: "https://127.0.0.1:1/"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  sideEffects: None
  admissionReviewVersions: [v1]
`

// A cluster that is a copy of another has the same objects as a new one, and nothing that refers to the original. The
// copy outlives the original.
func TestClusterFromACopy(t *testing.T) {
	p := clustertest.Local(t)
	first := clustertest.Create(t, p, "first",
		clusters.State{Version: "1.36", Nodes: []clusters.NodeGroup{{Count: new(2)}}})
	for _, text := range stored {
		put(t, first, text)
	}
	want := settled(t, first)
	put(t, first, webhook)
	kept, err := p.Copy(t.Context(), first, "kept")
	golden.Must(t, err)
	golden.Must(t, first.Delete(t.Context()))
	made, err := p.CreateFrom(t.Context(), "second", first.State(), kept)
	golden.Must(t, err)
	t.Cleanup(func() {
		if err := made.Delete(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	golden.Must(t, kept.Discard())
	if left, _ := filepath.Glob(filepath.Join(p.Root, "*")); len(left) != 1 {
		t.Errorf("the folders that are left are %v, want that of the second cluster", left)
	}
	got := settled(t, made)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got[name], want[name])
		}
		delete(got, name)
	}
	for name, object := range got {
		t.Errorf("%s is there, and in a cluster from nothing it is not:\n%s", name, object)
	}
	put(t, made, strings.ReplaceAll(stored[1], "mine", "another")) // no dead webhook is called
	collected(t, made)
}

// collected deletes an owner, and waits until its dependents are gone: the controllers know the kind that was stored
// before they started.
func collected(t *testing.T, c clusters.Cluster) {
	t.Helper()
	owner := put(t, c, "{apiVersion: example.dev/v1, kind: Widget, metadata: {name: owner, namespace: default}}")
	put(t, c,
		fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default, ownerReferences: [{apiVersion: example.dev/v1, kind: Widget, name: owner, uid: %s}]}}`, owner.GetUID()))
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	gone, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(),
		metav1.ListOptions{FieldSelector: "metadata.name=owned"})
	golden.Must(t, err)
	defer gone.Stop()
	widgets := schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "widgets"}
	if err := dynamicOf(t, c).Resource(widgets).Namespace("default").Delete(t.Context(), "owner",
		metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(15 * time.Second) // half the interval at which kube-controller-manager looks for new kinds
	for {
		select {
		case event := <-gone.ResultChan():
			if event.Type == "DELETED" {
				return
			}
		case <-deadline:
			t.Fatal("what belonged to an object of a kind that was copied has not been collected in time")
		}
	}
}

func dynamicOf(t *testing.T, c clusters.Cluster) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	return client
}

// put creates an object, once its kind is served.
func put(t *testing.T, c clusters.Cluster, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	golden.Must(t, yaml.Unmarshal([]byte(text), &object.Object))
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	made, err := dynamicOf(t, c).Resource(resource).Namespace(object.GetNamespace()).Create(t.Context(), object,
		metav1.CreateOptions{})
	golden.Must(t, err)
	return made
}

// settled returns everything that is stored in a cluster, once it no longer changes and the controllers' own objects
// exist. There is no event for that, so it compares two reads with time between them.
func settled(t *testing.T, c clusters.Cluster) map[string]string {
	t.Helper()
	var last map[string]string
	same := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Second) {
		now := everything(t, c)
		if same++; !maps.Equal(now, last) {
			same = 0
		}
		if same >= 2 && now["configmaps kube-public/kube-root-ca.crt"] != "" &&
			now["apiservices /v1.example.dev"] != "" {
			return now
		}
		last = now
	}
	t.Fatal("the cluster does not come to rest")
	return nil
}

var (
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// everything returns what is stored in a cluster, by resource and name, without values of a single moment or cluster.
func everything(t *testing.T, c clusters.Cluster) map[string]string {
	t.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(c.RESTConfig())
	golden.Must(t, err)
	lists, err := found.ServerPreferredResources()
	golden.Must(t, err)
	all := map[string]string{}
	own := ownOf(t, c)
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		for _, resource := range list.APIResources {
			if resource.Name == "events" {
				continue
			}
			gv, _ := schema.ParseGroupVersion(list.GroupVersion)
			objects, err := dynamicOf(t, c).Resource(gv.WithResource(resource.Name)).List(t.Context(), metav1.ListOptions{})
			golden.Must(t, err)
			for _, object := range objects.Items {
				all[fmt.Sprintf("%s %s/%s", resource.Name, object.GetNamespace(), object.GetName())] = own.Replace(text(t, object))
			}
		}
	}
	return all
}

func text(t *testing.T, object unstructured.Unstructured) string {
	t.Helper()
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	object.SetGeneration(0)
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	slices.SortFunc(conditions, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if conditions != nil {
		_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
	}
	data, err := json.MarshalIndent(object.Object, "", " ")
	golden.Must(t, err)
	return uids.ReplaceAllString(times.ReplaceAllString(string(data), "TIME"), "UID")
}

// ownOf replaces a cluster's own values by their names: its authority and the port of its API server.
func ownOf(t *testing.T, c clusters.Cluster) *strings.Replacer {
	t.Helper()
	var pairs []string
	for _, file := range []string{"ca.crt", "front-proxy/ca.crt"} {
		quoted, err := json.Marshal(golden.Read(t, filepath.Join(c.(*local.Cluster).Folder(), "pki", file)))
		golden.Must(t, err)
		pairs = append(pairs, strings.Trim(string(quoted), `"`), "AUTHORITY")
	}
	_, port, found := strings.Cut(strings.TrimPrefix(c.RESTConfig().Host, "https://"), ":")
	if !found {
		t.Fatal(errors.New("no port in " + c.RESTConfig().Host))
	}
	return strings.NewReplacer(append(pairs, port, "PORT")...)
}
