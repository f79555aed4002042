package survey

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A manifest is written in its own version, even if only the list of another version has the object.
func TestManifestsAreWrittenInTheirVersion(t *testing.T) {
	v1, older := widgets()
	server := apitest.New(t, apitest.Kind{GVK: v1, Resource: "widgets", Namespaced: true},
		apitest.Kind{GVK: older, Resource: "widgets", Namespaced: true})
	target := widget(server)
	found := observationOf(nil)
	found.serve(v1)
	found.add(older, target.UID, "", nil)
	found.lists[v1] = list{err: apierrors.NewTimeoutError("the list took too long", 1)}
	var mu sync.Mutex
	var written []string
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if r.Verb == "create" || r.Verb == "apply" {
			written = append(written, r.Verb+" "+r.Path)
		}
		return nil
	})
	outcomes := probed(t, server, found, target)
	want := "create /apis/example.com/v1/namespaces/default/widgets, " +
		"apply /apis/example.com/v1/namespaces/default/widgets/a"
	if got := strings.Join(written, ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, check := range []Check{Create, Apply} {
		if outcomes[check].Answer != Good {
			t.Errorf("%s: %+v", check, outcomes[check])
		}
	}
}

// A manifest whose version is not served breaks, unless the discovery of its group failed: that version may be served.
func TestManifestsWhoseVersionIsNotServed(t *testing.T) {
	_, older := widgets()
	for _, test := range []struct {
		name   string
		failed error
		want   Answer
		words  string
	}{
		{"it is gone", nil, Bad, "the API server does not serve example.com/v1, in which the manifest is written; " +
			"it serves v1beta1"},
		{"it was not discovered", errors.New("no answer"), Unknown, "discovery of API group example.com failed: no answer"},
	} {
		server := apitest.New(t, apitest.Kind{GVK: older, Resource: "widgets", Namespaced: true})
		target := widget(server)
		found := observationOf(nil)
		found.add(older, target.UID, "", nil)
		found.Undiscovered = map[string]error{"example.com": test.failed}
		outcomes := probed(t, server, found, target)
		for _, check := range []Check{Create, Apply} {
			if got := outcomes[check]; got.Answer != test.want || got.Words != test.words {
				t.Errorf("%s: %s is %+v", test.name, check, got)
			}
		}
	}
}

// An object may fill its quota. A new cluster has room for it.
func TestCreateInAFullQuota(t *testing.T) {
	v1, _ := widgets()
	for message, want := range map[string]Answer{
		`widgets "a" is forbidden: exceeded quota: q, requested: count/widgets=1, used: count/widgets=1, limited: ` +
			`count/widgets=1`: Good,
		`widgets "a" is forbidden: failed quota: q: must specify limits.cpu for: main`: Bad,
		`admission webhook "w" denied the request: exceeded quota: of my own`:          Bad,
	} {
		server := apitest.New(t, apitest.Kind{GVK: v1, Resource: "widgets", Namespaced: true})
		target := widget(server)
		found := observationOf(nil)
		found.serve(v1)
		found.add(v1, target.UID, "", nil)
		server.Reject(func(r apitest.Request) *metav1.Status {
			if r.Verb != "create" {
				return nil
			}
			return apitest.Status(403, metav1.StatusReasonForbidden, message)
		})
		if got := probed(t, server, found, target)[Create]; got.Answer != want {
			t.Errorf("%s: %+v", message, got)
		}
	}
}

// No pod that several disruption budgets select can be evicted. The API server says so with 500.
func TestEvictionOfAPodOfSeveralBudgets(t *testing.T) {
	for message, want := range map[string]writes.Outcome{
		"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.": writes.Rejected,
		"etcd does not answer": writes.Unknown,
	} {
		server := apitest.New(t, apitest.Kind{GVK: ofGroup("", "Pod"), Resource: "pods", Namespaced: true})
		server.Reject(func(apitest.Request) *metav1.Status { return apitest.Status(500, "", message) })
		client, err := dynamic.NewForConfig(server.Config())
		golden.Must(t, err)
		p := &probe{
			target: &Target{Namespace: "default", Name: "a"},
			api:    client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace("default"),
		}
		if got := writes.Judge(p.evict(t.Context())); got != want {
			t.Errorf("%s: %v, want %v", message, got, want)
		}
	}
}

// An export has fields of its own cluster. A new cluster has no other default PriorityClass.
func TestManifestsOfAnExport(t *testing.T) {
	content := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "globalDefault": true, "value": int64(1),
		"metadata": map[string]any{
			"name": "a", "uid": "u", "resourceVersion": "7", "deletionTimestamp": "2026-01-01T00:00:00Z",
			"deletionGracePeriodSeconds": int64(0), "managedFields": []any{},
		},
	}}
	p := &probe{
		served: &inventory.Kind{},
		target: &Target{Given: &manifests.Object{Content: content}, GVK: content.GroupVersionKind()},
	}
	const want = "map[apiVersion:scheduling.k8s.io/v1 kind:PriorityClass metadata:map[name:a] value:1]"
	if got := fmt.Sprint(p.anew().Object); got != want {
		t.Errorf("in a new cluster: %s", got)
	}
	if got := p.manifest(); got.Object["globalDefault"] != true || got.GetUID() != "" {
		t.Errorf("in this cluster: %v", got)
	}
}

// widgets are a kind in two versions.
func widgets() (v1, older schema.GroupVersionKind) {
	v1 = ofGroup("example.com", "Widget")
	older = v1
	older.Version = "v1beta1"
	return v1, older
}

// widget creates an object whose manifest is written in version v1.
func widget(server *apitest.Server) *Target {
	v1, _ := widgets()
	content := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": "1"}}}
	content.SetGroupVersionKind(v1)
	content.SetName("a")
	content.SetNamespace("default")
	stored := server.Put("widgets", content.Object)
	return &Target{
		Given: &manifests.Object{Content: content}, GVK: v1, Namespace: "default", Name: "a", UID: string(stored.GetUID()),
	}
}

// probed sends the dry runs for a target, and returns their outcomes.
func probed(t *testing.T, server *apitest.Server, found *observation, target *Target) map[Check]Outcome {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config())
	golden.Must(t, err)
	p := (&Survey{client: client}).newProbe(found, target)
	outcomes := map[Check]Outcome{}
	p.down, p.note = &outages{}, func(check Check, o Outcome) { outcomes[check] = o }
	p.all(t.Context())
	return outcomes
}
