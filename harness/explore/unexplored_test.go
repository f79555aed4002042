package explore

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// Kinds that cannot be explored are reported, if they are wanted.
func TestKindsThatCannotBeExplored(t *testing.T) {
	kind := func(group, name string) *fields.Kind {
		return &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}}
	}
	found := fields.Found{
		Kinds: []*fields.Kind{kind("", "Pod"), kind("a.example.com", "Order")}, Bare: []*fields.Kind{kind("", "Box")},
		Undiscovered: map[schema.GroupVersion]error{
			{Group: "a.example.com", Version: "v2"}: errors.New("it is away"),
		},
	}
	const (
		bare = "Box.v1 at 1.36: it was not explored, because the API server has no schema of it"
		away = "a.example.com/v2 at 1.36: its kinds were not explored, because the API server could not list them: it is " +
			"away"
	)
	for kinds, want := range map[string]string{
		"": bare + "; " + away, "Pod": "", "Box": bare, "Order": away, "Invoice": away,
	} {
		got := Options{Kinds: strings.Fields(kinds)}.unexplored(found, "1.36")
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%q: got %s, want %s", kinds, text, want)
		}
	}
}

// A version that cannot be listed at first is asked for again.
func TestKindsThatAreServedLater(t *testing.T) {
	const tries = 2 // of one discovery
	var asked atomic.Int32
	answers := map[string]string{
		"/api": `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"a.example.com","versions":[{"groupVersion":"a.example.com/v1",` +
			`"version":"v1"}]}]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`,
		"/apis/a.example.com/v1": `{"kind":"APIResourceList","groupVersion":"a.example.com/v1","resources":[` +
			`{"name":"orders","kind":"Order","verbs":["create","list"]}]}`,
		"/openapi/v3/apis/a.example.com/v1": `{"components":{"schemas":{"com.example.a.v1.Order":{"type":"object",` +
			`"x-kubernetes-group-version-kind":[{"group":"a.example.com","version":"v1","kind":"Order"}]}}}}`,
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		if !ok || r.URL.Path == "/apis/a.example.com/v1" && asked.Add(1) <= tries {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	defer web.Close()
	server := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: web.URL})
	found, err := customKinds{}.define(t.Context(), growth.NewClient(server.RESTClient(), 1), server)
	if err != nil || !found.Complete() || len(found.Kinds) != 1 || found.Kinds[0].Kind != "Order" {
		t.Errorf("got %+v, %v", found, err)
	}
}

// Values without a verdict are not judged.
func TestValuesWithoutAVerdict(t *testing.T) {
	e := &exploration{report: &explorations.Report{}, kinds: map[string]*explorations.Kind{}}
	box := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Box"}}
	e.gather([]*growth.Grown{{Kind: box, State: true, Unjudged: []string{"not 7"}}}, "1.36")
	if want := []string{"Box.v1 status at 1.36: not 7"}; !slices.Equal(e.report.Unjudged, want) {
		t.Errorf("got %q, want %q", e.report.Unjudged, want)
	}
}
