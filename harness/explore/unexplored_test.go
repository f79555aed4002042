package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/golden"
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

// A wanted kind that no state serves, for example because it is misspelt, is reported.
func TestKindsThatNoStateServes(t *testing.T) {
	o := Options{Kinds: []string{"Pod", "Ingres", "pod"}}
	pod := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}}
	served := map[string]bool{}
	o.noteServed(fields.Found{Kinds: []*fields.Kind{pod}}, served)
	got := strings.Join(o.neverServed(served), "; ")
	if !strings.HasPrefix(got, "Ingres: it was not explored") || strings.Contains(got, "Pod") {
		t.Error(got)
	}
}

// A version that cannot be listed at first is asked for again. The kind of a generated definition is not explored.
func TestKindsThatAreServedLater(t *testing.T) {
	const tries = 2 // of one discovery
	var asked atomic.Int32
	answers := map[string]string{
		"/api": `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"explore.example.com","versions":[{` +
			`"groupVersion":"explore.example.com/v1",` +
			`"version":"v1"}]}]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`,
		"/apis/explore.example.com/v1": `{"kind":"APIResourceList","groupVersion":"explore.example.com/v1","resources":[` +
			`{"name":"orders","kind":"Order","verbs":["create","list"]},` +
			`{"name":"explore-0s","kind":"Explore0","verbs":["create","list"]}]}`,
		"/openapi/v3/apis/explore.example.com/v1": `{"components":{"schemas":{"com.example.a.v1.Order":{"type":"object",` +
			`"x-kubernetes-group-version-kind":[{"group":"explore.example.com","version":"v1","kind":"Order"}]}}}}`,
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		if !ok || r.URL.Path == "/apis/explore.example.com/v1" && asked.Add(1) <= tries {
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

// failing is a client of an API server that accepts objects, but answers with 500 if it fails for them.
func failing(t *testing.T, fails func(object string) bool) *growth.Client {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || fails(string(body)) {
			http.Error(w, "no quorum", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	t.Cleanup(web.Close)
	server, err := discovery.NewDiscoveryClientForConfig(writes.Configure(&rest.Config{Host: web.URL}, "test"))
	golden.Must(t, err)
	return growth.NewClient(server.RESTClient(), 1)
}

// accepted is an object with a value of a field that accepts any value, as far as the state 1.35 shows.
func accepted(kind *fields.Kind, value string) *entry {
	return &entry{
		Specimen: &growth.Specimen{
			Kind: kind, Role: growth.Border, Field: "spec.a", Owner: "Box.a", Value: value,
			Body: fmt.Appendf(nil, `{"kind":"Box","apiVersion":"v1","spec":{"a":%q}}`, value),
		},
		verdicts: map[string]verdict{"1.35": {accepted: true}},
	}
}

// An object on which a later state has no verdict keeps those of the earlier ones, and crosses: the states may disagree
// on it. What is missing is reported.
func TestObjectsThatALaterStateDoesNotJudge(t *testing.T) {
	box := &fields.Kind{
		GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Box"}, Resource: "boxes", Namespaced: true,
	}
	e := &exploration{report: &explorations.Report{}}
	e.corpus = []*entry{accepted(box, "x"), accepted(box, "odd"), accepted(box, "oddity")}
	client := failing(t, func(object string) bool { return strings.Contains(object, "odd") })
	golden.Must(t, e.tryAll(t.Context(), client, []*fields.Kind{box}, "1.36"))
	const want = "Box.v1 at 1.36: no verdict on 2 of its objects, such as border spec.a odd: 500 "
	if len(e.report.Unjudged) != 1 || !strings.HasPrefix(e.report.Unjudged[0], want) ||
		!strings.Contains(e.report.Unjudged[0], "no quorum") {
		t.Errorf("got %q", e.report.Unjudged)
	}
	for _, one := range e.corpus {
		if _, judged := one.verdicts["1.36"]; !one.verdicts["1.35"].accepted || judged == (one.Value != "x") {
			t.Errorf("%s: %+v", one.Value, one.verdicts)
		}
	}
	chosen := e.choose()
	if len(chosen) != 2 || chosen[0].Value == "x" || chosen[1].Value == "x" {
		t.Errorf("%d objects cross; want both that 1.36 did not judge", len(chosen))
	}
}

// An end of the time is not an answer of the API server.
func TestObjectsThatAreNotTriedInTime(t *testing.T) {
	box := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Box"}, Resource: "boxes"}
	e := &exploration{report: &explorations.Report{}, corpus: []*entry{accepted(box, "x")}}
	ctx, cancel := context.WithCancel(t.Context())
	client := failing(t, func(string) bool {
		cancel()
		return true
	})
	err := e.tryAll(ctx, client, []*fields.Kind{box}, "1.36")
	if !errors.Is(err, context.Canceled) || len(e.report.Unjudged) > 0 || len(e.corpus[0].unjudged) > 0 {
		t.Errorf("got %v, %q", err, e.report.Unjudged)
	}
}
