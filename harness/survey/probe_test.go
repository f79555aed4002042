package survey

import (
	"errors"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/manifests"
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
