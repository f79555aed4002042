package explore

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// Each object is in one part, no part has too many, and there is always a part: an untouched cluster crosses, too.
func TestParts(t *testing.T) {
	for most, want := range map[int]string{1: "[1 1 1 1 1 1 1]", 3: "[2 2 3]", 4: "[3 4]", 7: "[7]", 9: "[7]"} {
		all := make([]*entry, 7)
		for i := range all {
			all[i] = new(entry)
		}
		var sizes []int
		var together []*entry
		for _, part := range parts(all, most) {
			sizes = append(sizes, len(part))
			together = append(together, part...)
		}
		if got := fmt.Sprint(sizes); got != want {
			t.Errorf("at most %d: parts of %s, want %s", most, got, want)
		}
		for i := range all {
			if together[i] != all[i] {
				t.Errorf("at most %d: entry %d is not in its place", most, i)
			}
		}
	}
	if got := parts(nil, 3); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("no entries: %v, want one empty part", got)
	}
}

// An object whose creation has no verdict is not judged. One that is rejected beside others is only not tried. Neither
// is true of objects whose first state was not visited.
func TestObjectsThatCouldNotBeCreated(t *testing.T) {
	path := []clusters.State{{Version: "1.35"}, {Version: "1.36"}}
	var kinds []apitest.Kind
	var entries []*entry
	for i, name := range []string{"Lost", "Lost", "Panicking", "Taken", "Service", "Made", "Later"} {
		kind := &fields.Kind{
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: name}, Resource: strings.ToLower(name),
		}
		kinds = append(kinds, apitest.Kind{GVK: kind.GroupVersionKind, Resource: kind.Resource})
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":%q,"metadata":{"name":%q}}`, name, growth.Placeholder)
		entries = append(entries, &entry{
			Specimen: &growth.Specimen{Kind: kind, Role: growth.Minimal, Body: body},
			verdicts: map[string]verdict{nameOf(path[i/6]): {accepted: true}},
		})
	}
	server := apitest.New(t, kinds...)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch r.Kind {
		case "Lost":
			return &apitest.Fault{Status: apitest.Failure(http.StatusInternalServerError, "no quorum")}
		case "Panicking":
			return &apitest.Fault{Code: http.StatusInternalServerError, Text: "This request caused apiserver to panic."}
		case "Service":
			return &apitest.Fault{Status: apitest.Failure(http.StatusInternalServerError, "Internal error occurred: "+
				"failed to allocate requested HealthCheck NodePort 80: provided port is not in the valid range")}
		case "Taken":
			return &apitest.Fault{Status: apitest.Failure(http.StatusUnprocessableEntity, "no port")}
		}
		return nil
	})
	e := &exploration{Options: Options{Path: path}, report: &explorations.Report{Path: []*explorations.State{{}, {}}}}
	c := newCrossing(e, path, entries)
	found, err := discovery.NewDiscoveryClientForConfig(writes.Configure(server.Config(), "test"))
	golden.Must(t, err)
	c.client = growth.NewClient(found.RESTClient(), 1)
	c.survey, err = survey.New(server.Config(), survey.Options{})
	golden.Must(t, err)
	t.Cleanup(c.survey.Close)
	golden.Must(t, c.createAll(t.Context(), 0, []int{0, 1, 2, 3, 4, 5}))
	w := &waves{exploration: e, chosen: entries, unknown: make([]error, len(entries))}
	w.add(c)
	w.finish()
	const lost = "Lost.v1 at creation: no verdict on 2 of its objects, such as minimal: 500 no quorum: "
	const panicking = "Panicking.v1 at creation: no verdict on 1 of its objects, such as minimal: 500 "
	if len(e.report.Unjudged) != 2 || !strings.HasPrefix(e.report.Unjudged[0], lost) ||
		!strings.HasPrefix(e.report.Unjudged[1], panicking) {
		t.Errorf("not judged: %q, want %s and %s", e.report.Unjudged, lost, panicking)
	}
	untried := []string{"2 of 7 objects did not cross, because they could not be created beside the others"}
	if !slices.Equal(e.report.Untried, untried) || e.report.Crossed != 1 {
		t.Errorf("not tried: %q, want %q; %d crossed", e.report.Untried, untried, e.report.Crossed)
	}
}
