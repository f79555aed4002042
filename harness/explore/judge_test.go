package explore

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

func TestFindingsAreDefectsOrHazards(t *testing.T) {
	for _, test := range []struct {
		name    string
		finding upgrades.Finding
		want    explorations.Sort
	}{
		{"stuck", upgrades.Finding{Check: "update", Checks: []string{"label", "create"}}, explorations.Defect},
		{"only not applied", upgrades.Finding{Check: "apply"}, explorations.Defect},
		{"not created again", upgrades.Finding{Check: "apply", Checks: []string{"create"}}, explorations.Hazard},
		{"not served", upgrades.Finding{
			Check: "read",
			Words: "the API server serves no version of kind Workload.scheduling.k8s.io",
		}, explorations.Hazard},
		{
			"unreadable",
			upgrades.Finding{Check: "read", Words: "500 InternalError: no kind \"Workload\""},
			explorations.Defect,
		},
		{"hidden", upgrades.Finding{Check: "content", Back: "the rollback fixes it"}, explorations.Hazard},
		{"lost", upgrades.Finding{Check: "content", Back: "the rollback does not fix it"}, explorations.Defect},
		{"moved", upgrades.Finding{Check: "moved"}, explorations.Defect},
		{"dropped by a label", upgrades.Finding{Check: "keep"}, explorations.Defect},
		{"dropped at the first state", upgrades.Finding{Severity: upgrades.Before, Check: "keep"}, explorations.Defect},
		{"a warning", upgrades.Finding{Severity: upgrades.Changes, Check: "warning"}, ""},
		{"unreadable at the first state", upgrades.Finding{Severity: upgrades.Before, Check: "read"}, explorations.Defect},
		{"stuck at the first state", upgrades.Finding{Severity: upgrades.Before, Check: "update"}, explorations.Defect},
		{"not applied at the first state", upgrades.Finding{Severity: upgrades.Before, Check: "apply"}, ""},
	} {
		if test.finding.Severity == "" {
			test.finding.Severity = upgrades.Breaks
		}
		if got, rule := judge(&test.finding); got != test.want || (rule == "") != (test.want == "") {
			t.Errorf("%s: %q, %q; want %q", test.name, got, rule, test.want)
		}
	}
}

func TestAPanicIsOneFindingOfItsKind(t *testing.T) {
	kind := &fields.Kind{}
	kind.GroupVersionKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}
	e := &exploration{Options: Options{Path: []clusters.State{{Version: "1.36.3"}, {Version: "1.37.2"}}}}
	first := &growth.Specimen{Kind: kind, Body: []byte(`{"a": "b"}`)}
	e.panicked(first, clusters.State{Version: "1.36.3"})
	e.panicked(&growth.Specimen{Kind: kind, Body: []byte(`{"c": "d"}`)}, clusters.State{Version: "1.36.3"})
	e.panicked(first, clusters.State{Version: "1.37.2"})
	if len(e.groups) != 1 {
		t.Fatalf("%d findings", len(e.groups))
	}
	found := e.groups[0].report()
	if want := `1.36.3, 1.37.2: {"a": "b"}`; found.Words != want || found.Sort != explorations.Defect ||
		found.ID != "control-plane-d0b3fa9a" {
		t.Errorf("%+v; want %s", found, want)
	}
}

func TestWordsOfOneCauseAreOneClass(t *testing.T) {
	one := classOf(`422 Invalid: Deployment.apps "explore-12" is invalid: spec.template.spec.containers[0].name: Invalid value: "A"`)
	for _, test := range []struct {
		words string
		same  bool
	}{
		{`422 Invalid: Job.batch "explore-7" is invalid: spec.template.spec.containers[1].name: Invalid value: "B"`, true},
		{
			`422 Invalid: Deployment.apps "explore-12" is invalid: spec.template.spec.containers[0].image: Invalid value: "A"`,
			false,
		},
		{
			`422 Invalid: Deployment.apps "explore-12" is invalid: spec.template.spec.containers[0].name: Required value`,
			false,
		},
	} {
		if got := classOf(test.words); (got == one) != test.same {
			t.Errorf("%s\nhas class %s; the first one has %s; want the same: %t", test.words, got, one, test.same)
		}
	}
}

func TestOnlyTheChangedNamesOfADiffAreItsClass(t *testing.T) {
	diff := func(around, changed string) string {
		return "spec: Forbidden: pod updates may not change fields\n@@ -202,11 +202,7 @@\n  \"" + around + "\": null,\n" +
			"- \"" + changed + "\": {\n-  \"Limits\": null\n- },\n+ \"" + changed + "\": null,\n  \"Hostname\": \"a\"\n"
	}
	one := classOf(diff("ResourceClaims", "Resources"))
	if same := classOf(diff("EvictionResponders", "Resources")); same != one {
		t.Errorf("%s\nis not %s", same, one)
	}
	if other := classOf(diff("ResourceClaims", "Affinity")); other == one {
		t.Errorf("two fields have the class %s", one)
	}
}

// ingress is a finding about an Ingress.
func ingress(t *testing.T, path ...clusters.State) *group {
	t.Helper()
	text := func(name string) *fields.Field {
		return &fields.Field{Type: fields.String, Path: fields.Path{"spec", name}}
	}
	spec := &fields.Field{
		Type: fields.Object, Path: fields.Path{"spec"},
		Children: []*fields.Field{text("a"), text("b"), {
			Type: fields.String, Path: fields.Path{"spec", "c"},
			Required: true,
		}},
	}
	kind := &fields.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
		Resource:         "ingresses", Namespaced: true, Root: &fields.Field{
			Type:     fields.Object,
			Children: []*fields.Field{spec},
		},
	}
	body := growth.Text(map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
		"metadata": map[string]any{"name": growth.Placeholder, "namespace": "explore"},
		"spec":     map[string]any{"a": "x", "b": "y", "c": "z"},
	})
	finding := &upgrades.Finding{
		Severity: upgrades.Breaks, Check: "update", Checks: []string{"label"}, Kind: "Ingress.networking.k8s.io",
		What: "a write of it that changes nothing is rejected", Words: `spec.b: Invalid value: "y"`,
	}
	s := &sighting{finding: finding, made: path[:1], before: path[0], to: path[len(path)-1]}
	s.entries = []*entry{{
		Specimen: &growth.Specimen{Kind: kind, Role: growth.Whole, Body: body}, verdicts: map[string]verdict{},
	}}
	e := &exploration{report: &explorations.Report{}}
	e.take([]*sighting{s, s})
	if len(e.groups) != 1 {
		t.Fatalf("got %d findings for one cause", len(e.groups))
	}
	e.groups[0].path = e.shortest(e.groups[0])
	return e.groups[0]
}

// states returns two states that differ only in a gate, which is on and off.
func states() (on, off clusters.State) {
	one := 1
	nodes := []clusters.NodeGroup{{Count: &one}}
	return clusters.State{Version: "1.34.4", FeatureGates: map[string]bool{"A": true}, Nodes: nodes},
		clusters.State{Version: "1.34.4", FeatureGates: map[string]bool{"A": false}, Nodes: nodes}
}

// A generated object that Kubernetes deletes at once, or whose pods find no node, is a note. Other checks without an answer are not judged.
func TestGoneAtOnce(t *testing.T) {
	finding := func(words string) *sighting {
		return &sighting{finding: &upgrades.Finding{
			Severity: upgrades.Unjudged, Check: string(survey.Moved), Kind: "Pod", What: "the check could not be judged", Words: words,
		}}
	}
	e := &exploration{report: &explorations.Report{}}
	e.take([]*sighting{
		finding(survey.GoneAtOnce), finding(survey.GoneAtOnce), finding(survey.Blocked + "0/1 nodes"), finding("no answer"),
	})
	if len(e.report.Notes) != 2 || !slices.Equal(e.report.Unjudged, []string{"Pod: the check could not be judged: no answer"}) {
		t.Errorf("notes %q, not judged %q", e.report.Notes, e.report.Unjudged)
	}
}

func TestPatchReleasesDoNotChangeTheID(t *testing.T) {
	on, off := states()
	first := ingress(t, on, off).id()
	on.Version, off.Version = "1.34.6", "1.34.6"
	if again := ingress(t, on, off).id(); again != first {
		t.Errorf("the id is %s on one patch release and %s on another", first, again)
	}
	on.Version, off.Version = "1.35.0", "1.35.0"
	if other := ingress(t, on, off).id(); other == first {
		t.Errorf("the id is the same on another minor version: %s", other)
	}
}

// An upgrade to a patch release and its rollback are two hops. The ids of other hops stay what they are in files of known
// findings.
func TestIDsOfHops(t *testing.T) {
	id := func(before, to string) string {
		return ingress(t, clusters.State{Version: before}, clusters.State{Version: to}).id()
	}
	if up, back := id("1.34.1", "1.34.4"), id("1.34.4", "1.34.1"); up == back {
		t.Errorf("the upgrade to a patch release and its rollback have the id %s", up)
	}
	on, off := states()
	if got, want := ingress(t, on, off).id(), "update-603034b2"; got != want {
		t.Errorf("the id of a gate's change is %s, want %s", got, want)
	}
	if got, want := id("1.34.1", "1.35.4"), "update-6bf03224"; got != want {
		t.Errorf("the id of an upgrade to another minor version is %s, want %s", got, want)
	}
}

// lossOf is a sighting of an object that lost a field on the way to a state.
func lossOf(one *entry, path []clusters.State, state int, back string) *sighting {
	return &sighting{
		finding: &upgrades.Finding{
			Severity: upgrades.Breaks, Check: "content", Kind: "Ingress.networking.k8s.io", State: state, Back: back,
			Words: "spec.a is gone",
		},
		entries: []*entry{one}, made: path[:1], before: path[state-1], to: path[state], written: one.written,
	}
}

// A twin is written at each state. What it shows is a separate finding only if the untouched object does not show it.
func TestFindingsOfTwins(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.34.4"}, {Version: "1.35.4"}}
	untouched := ingress(t, path[0], path[1]).smallest
	twin := *untouched
	twin.written = true
	for _, test := range []struct {
		name string
		seen []*sighting
		want []string
	}{
		{
			"a field that the older version does not know",
			[]*sighting{
				lossOf(&twin, path, 1, "the rollback does not fix it"), lossOf(untouched, path, 1, "the rollback fixes it"),
			},
			[]string{"hazard the rollback fixes it, but not if the object was written meanwhile"},
		},
		{
			"a field that the older version knows, but does not write",
			[]*sighting{lossOf(&twin, path, 2, "")},
			[]string{"defect "},
		},
	} {
		e := &exploration{Options: Options{Path: path}, report: &explorations.Report{}}
		e.take(test.seen)
		var got []string
		for _, g := range e.groups {
			f := g.report()
			got = append(got, string(f.Sort)+" "+f.Back)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// Objects that lose a field for good make the finding a defect, even if others only hide it, whatever comes first.
func TestTheWorstSortOfAFinding(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.34.4"}, {Version: "1.35.4"}}
	hides := ingress(t, path[0], path[1]).smallest
	loses := *hides
	for _, seen := range [][]*sighting{
		{lossOf(hides, path, 1, "the rollback fixes it"), lossOf(&loses, path, 1, "the rollback does not fix it")},
		{lossOf(&loses, path, 1, "the rollback does not fix it"), lossOf(hides, path, 1, "the rollback fixes it")},
	} {
		e := &exploration{Options: Options{Path: path}, report: &explorations.Report{}}
		e.take(seen)
		if len(e.groups) != 1 {
			t.Fatalf("%d findings", len(e.groups))
		}
		g := e.groups[0]
		if f := g.report(); f.Sort != explorations.Defect || f.Back != "the rollback does not fix it" || g.smallest != &loses ||
			f.Objects != 2 {
			t.Errorf("got %s, %q, %d objects", f.Sort, f.Back, f.Objects)
		}
	}
}

// What a state rejects from the start does not depend on the state before.
func TestAFailureAtBirthHasNoHop(t *testing.T) {
	path := []clusters.State{{Version: "1.34.4"}, {Version: "1.35.4"}}
	c := &crossing{path: path, report: &upgrades.Report{Findings: []*upgrades.Finding{
		{Severity: upgrades.Before, State: 1}, {Severity: upgrades.Breaks, State: 1},
	}}}
	seen := c.sightings()
	if len(seen) != 2 || seen[0].before.Version != "1.35.4" || seen[1].before.Version != "1.34.4" {
		t.Errorf("got %+v", seen)
	}
}
