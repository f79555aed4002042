package explore

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func TestFindingsAreDefectsOrHazards(t *testing.T) {
	for _, test := range []struct {
		name    string
		finding upgrades.Finding
		want    explorations.Sort
	}{
		{"stuck", upgrades.Finding{Check: "update", Checks: []string{"label", "create"}}, explorations.Defect},
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
		{"dropped from its birth", upgrades.Finding{Severity: upgrades.Before, Check: "keep"}, explorations.Defect},
		{"a warning", upgrades.Finding{Severity: upgrades.Changes, Check: "warning"}, ""},
		{"stuck from its birth", upgrades.Finding{Severity: upgrades.Before, Check: "update"}, explorations.Defect},
		{"not applied from its birth", upgrades.Finding{Severity: upgrades.Before, Check: "apply"}, ""},
	} {
		if test.finding.Severity == "" {
			test.finding.Severity = upgrades.Breaks
		}
		if got, rule := judge(&test.finding); got != test.want || (rule == "") != (test.want == "") {
			t.Errorf("%s: %q, %q; want %q", test.name, got, rule, test.want)
		}
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
			t.Errorf("%s\nis of the class %s; the first of %s", test.words, got, one)
		}
	}
}

// ingress is a finding about an object.
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
		t.Fatalf("one cause makes %d findings", len(e.groups))
	}
	e.groups[0].path = e.shortest(e.groups[0])
	return e.groups[0]
}

func states() (on, off clusters.State) {
	one := 1
	nodes := []clusters.NodeGroup{{Count: &one}}
	return clusters.State{Version: "1.34.4", FeatureGates: map[string]bool{"A": true}, Nodes: nodes},
		clusters.State{Version: "1.34.4", FeatureGates: map[string]bool{"A": false}, Nodes: nodes}
}

func TestTheScenarioOfAFindingIsOne(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write()))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write())
	}
	steps := set.Scenarios[0].Spec.Steps
	if len(steps) != 3 || steps[0].Create == nil || steps[1].Transition == nil || steps[2].Survives == nil {
		t.Errorf("steps:\n%s", g.write())
	}
	if except := strings.Join(steps[2].Survives.Except, " "); strings.Contains(except, "update") ||
		strings.Contains(except, "label") || !strings.Contains(except, "create") {
		t.Errorf("it leaves out %s", except)
	}
}

// What an object says in the form of an expression is none.
func TestTheScenarioOfAFindingTakesTextsAsTheyAre(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	g.smallest.Body = growth.Text(map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
		"metadata": map[string]any{"name": growth.Placeholder, "namespace": "explore"},
		"spec":     map[string]any{"ingressClassName": "${namespace}"},
	})
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write()))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write())
	}
	spec := set.Scenarios[0].Spec.Steps[0].Create["spec"]
	got, err := expressions.New().Interpolate(spec, expressions.Variables{})
	if want := any(map[string]any{"ingressClassName": "${namespace}"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestTransitionsOfAPath(t *testing.T) {
	on, _ := states()
	newer := clusters.State{
		Version: "1.36.1", RuntimeConfig: map[string]string{"api/all": "true"},
		Components: map[clusters.Component]clusters.ComponentState{
			clusters.APIServer: {FeatureGates: map[string]bool{"B": true}},
		},
	}
	for _, test := range []struct {
		before, after clusters.State
		want          string
	}{
		{on, on, "{}\n"},
		{on, newer, "components:\n  kube-apiserver:\n    featureGates:\n      B: true\n" +
			"featureGates:\n  A: null\nforce: true\n" +
			"runtimeConfig:\n  api/all: \"true\"\nversion: 1.36.1\n"},
	} {
		if got := yamlOf(transition(test.before, test.after)); got != test.want {
			t.Errorf("%s\nwant\n%s", got, test.want)
		}
	}
}

func TestAnObjectIsReduced(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	r := &reduction{group: g}
	// The finding is there as long as b is.
	shows := func(all []*variant) map[*entry]map[string]bool {
		seen := map[*entry]map[string]bool{}
		for _, v := range all {
			spec, _ := v.entry.Object()["spec"].(map[string]any)
			seen[v.entry] = map[string]bool{g.keyOn(g.path): spec["b"] != nil}
		}
		return seen
	}
	for round := 0; round < rounds && !r.done; round++ {
		all := r.singles(on)
		if round%2 == 1 {
			all = r.together(on)
		}
		r.learn(all, shows(all), round, g.path)
	}
	text, _ := json.Marshal(g.smallest.Object()["spec"])
	if string(text) != `{"b":"y","c":"z"}` {
		t.Errorf("the smallest has %s", text)
	}
}

func TestTheIDOfAFindingLastsOverPatchReleases(t *testing.T) {
	on, off := states()
	first := ingress(t, on, off).id()
	on.Version, off.Version = "1.34.6", "1.34.6"
	if again := ingress(t, on, off).id(); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	on.Version, off.Version = "1.35.0", "1.35.0"
	if other := ingress(t, on, off).id(); other == first {
		t.Errorf("another minor version has the same: %s", other)
	}
}

func TestWhatStatesDisagreeOnCrossesFirst(t *testing.T) {
	kind := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Box"}}
	one := func(role growth.Role, value string, a, b bool) *entry {
		return &entry{
			Specimen: &growth.Specimen{Kind: kind, Role: role, Field: "spec.a", Owner: "a", Value: value, Body: []byte("{}")},
			verdicts: map[string]verdict{"a": {accepted: a}, "b": {accepted: b}},
		}
	}
	e := &exploration{Options: Options{Objects: 2}, report: &explorations.Report{}}
	e.corpus = []*entry{
		one(growth.Minimal, "", true, true), one(growth.Border, "1", true, true), one(growth.Border, "2", false, true),
		one(growth.Border, "3", false, false),
	}
	dropped := one(growth.Border, "4", false, true)
	dropped.verdicts["b"] = verdict{accepted: true, lost: "spec.a"}
	e.corpus = append(e.corpus, dropped)
	chosen := e.choose()
	if len(chosen) != 2 || chosen[0].Value != "2" || chosen[1].Role != growth.Minimal || len(e.report.Untried) != 1 {
		t.Errorf("%d cross, %v", len(chosen), e.report.Untried)
	}
	const note = "1 objects did not cross, since they lose a field in each state that accepts them"
	if !slices.Contains(e.report.Notes, note) {
		t.Errorf("notes %q", e.report.Notes)
	}
}

func TestObjectsOfOneShapeDependOnTheSameGates(t *testing.T) {
	on, off := clusters.State{Version: "1.36.3"}, clusters.State{
		Version: "1.36.3", FeatureGates: map[string]bool{"A": false},
	}
	e := &exploration{Options: Options{Path: []clusters.State{on, off, on}}, report: &explorations.Report{}}
	one := func(kind, owner, value, lost, body string) *entry {
		return &entry{
			Specimen: &growth.Specimen{
				Kind: &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}},
				Role: growth.Border, Owner: owner, Value: value, Body: []byte(body),
			},
			verdicts: map[string]verdict{
				nameOf(on): {accepted: true}, nameOf(off): {accepted: true, lost: lost},
			},
		}
	}
	pod := one("Pod", "PodSpec.a", "1", "spec.a", "{}")
	larger := one("Deployment", "PodSpec.a", "1", "spec.template.spec.a", `{"a":1}`)
	another := one("Pod", "PodSpec.b", "1", "spec.b", "{}")
	more := one("Pod", "PodSpec.a", "2", "spec.a spec.b", "{}")
	all, alike := e.representatives([]*entry{larger, pod, another, more})
	if len(all) != 3 || len(alike[pod]) != 2 || alike[larger] != nil || len(alike[another]) != 1 || len(alike[more]) != 1 {
		t.Errorf("%d shapes, with the Pod's %d", len(all), len(alike[pod]))
	}
}

// A gate does not start without those that it needs, and nothing starts that needs one which is off.
func TestSeveralGatesAreOnAndOffWithWhatTheyNeed(t *testing.T) {
	beta := []features.Spec{{Since: "0.0", Stage: features.Beta}}
	list := &features.List{Version: "1.36.3", Gates: map[string]features.Gate{
		"A": {Specs: beta, Needs: []string{"Below"}}, "B": {Specs: beta}, "Below": {Specs: beta},
		"Above": {Specs: beta, Needs: []string{"B"}}, "Other": {Specs: beta},
	}}
	state := clusters.State{Version: "1.36.3"}
	gates, err := GatesOf(list, state, []string{"A", "B"})
	if err != nil {
		t.Fatal(err)
	}
	judged := gates[1].Flipped.Components[clusters.APIServer].FeatureGates
	if !maps.Equal(judged, map[string]bool{"A": true, "Below": true}) || len(gates[1].Flipped.FeatureGates) > 0 {
		t.Errorf("A is flipped by %v of kube-apiserver, and %v of all", judged, gates[1].Flipped.FeatureGates)
	}
	path := PathOf(list, state, gates)
	on, off := map[string]bool{"A": true, "B": true, "Below": true}, map[string]bool{
		"A": false, "B": false,
		"Above": false,
	}
	if len(path) != 3 || !maps.Equal(path[0].FeatureGates, on) || !maps.Equal(path[1].FeatureGates, off) ||
		!maps.Equal(path[2].FeatureGates, on) {
		t.Errorf("%v", path)
	}
}

func TestObjectsAreBornWhereNothingOfThemIsDropped(t *testing.T) {
	path := []clusters.State{{Version: "1.34.4"}, {Version: "1.35.4"}, {Version: "1.36.3"}}
	dropped, whole, refused := verdict{accepted: true, lost: "spec.a"}, verdict{accepted: true}, verdict{}
	for _, test := range []struct {
		verdicts [3]verdict
		want     string
	}{
		{[3]verdict{whole, whole, whole}, "1.34.4"},
		{[3]verdict{dropped, whole, whole}, "1.35.4"},
		{[3]verdict{refused, dropped, dropped}, "1.35.4"},
		{[3]verdict{refused, refused, whole}, "1.36.3"},
		{[3]verdict{refused, refused, refused}, ""},
	} {
		one := &entry{verdicts: map[string]verdict{}}
		for i, v := range test.verdicts {
			one.verdicts[nameOf(path[i])] = v
		}
		if got := one.born(path); got != test.want {
			t.Errorf("%v: born at %q, want %q", test.verdicts, got, test.want)
		}
	}
}

func TestFindingsWithTheSameSmallestObjectAreOne(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.36.3"}}
	one := func(key, gate, kind, body string) *group {
		smallest := &entry{Specimen: &growth.Specimen{Body: []byte(body)}}
		return &group{
			key: key, gate: gate, kinds: []string{kind}, smallest: smallest, entries: []*entry{smallest},
			route: route{path: path},
		}
	}
	all := merged([]*group{
		one("a", "B,C", "Pod", "{}"), one("a", "B,D", "Job", "{}"), one("a", "B", "Pod", `{"a":1}`), one("b", "B", "Pod",
			"{}"),
		{key: "c"},
		{key: "c"},
	})
	if len(all) != 5 || all[0].gate != "B" || len(all[0].entries) != 2 ||
		!slices.Equal(all[0].kinds, []string{"Pod", "Job"}) {
		t.Errorf("%d findings, the first depends on %q and has %d objects of %v", len(all), all[0].gate,
			len(all[0].entries), all[0].kinds)
	}
}

// What was found with several gates is shown with its own alone, and can be shown with all of them where that fails.
func TestAFindingIsShownWithItsOwnGate(t *testing.T) {
	state := func(gates map[string]bool) clusters.State {
		return clusters.State{Version: "1.36.3", FeatureGates: gates}
	}
	high, low := state(map[string]bool{"A": true, "B": true}), state(map[string]bool{"A": false, "B": false})
	gate := Gate{Name: "A", On: state(map[string]bool{"A": true}), Off: state(map[string]bool{"A": false})}
	e := Options{Path: []clusters.State{high, low, high}, Gates: []Gate{gate, {Name: "B"}}}
	g := &group{gate: "A", route: route{from: high, before: high, to: low, path: []clusters.State{high, low}}}
	e.isolate(g)
	if got, want := hopsOf(g.path), nameOf(gate.On)+"|"+nameOf(gate.Off); got != want || nameOf(g.to) != nameOf(gate.Off) {
		t.Errorf("the finding of A is on %s, want %s", got, want)
	}
	if got, want := hopsOf(g.common.path), nameOf(high)+"|"+nameOf(low); got != want {
		t.Errorf("with all gates it is on %s, want %s", got, want)
	}
	several := &group{gate: "A,B", route: route{path: []clusters.State{high, low}}}
	if e.isolate(several); several.common != nil || hopsOf(several.path) != nameOf(high)+"|"+nameOf(low) {
		t.Errorf("the finding of two gates is on %s", hopsOf(several.path))
	}
}

// What objects show that each state writes is a finding of its own only where those do not show it that nobody writes.
func TestWhatAWriteLosesIsAFinding(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.34.4"}, {Version: "1.35.4"}}
	untouched := ingress(t, path[0], path[1]).smallest
	twin := *untouched
	twin.written = true
	seen := func(one *entry, state int, back string) *sighting {
		return &sighting{
			finding: &upgrades.Finding{
				Severity: upgrades.Breaks, Check: "content", Kind: "Ingress.networking.k8s.io", State: state, Back: back,
				Words: "spec.a is gone",
			},
			entries: []*entry{one}, made: path[:1], before: path[state-1], to: path[state], written: one.written,
		}
	}
	for _, test := range []struct {
		name string
		seen []*sighting
		want []string
	}{
		{
			"a field that the older version does not know",
			[]*sighting{seen(&twin, 1, "the rollback does not fix it"), seen(untouched, 1, "the rollback fixes it")},
			[]string{"hazard the rollback fixes it, but not if the object was written meanwhile"},
		},
		{
			"a field that the older version knows and does not write",
			[]*sighting{seen(&twin, 2, "")},
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
	e := &exploration{Options: Options{Path: path}, report: &explorations.Report{}}
	e.take([]*sighting{seen(&twin, 2, "")})
	g := e.groups[0]
	g.path = e.shortest(g)
	set, err := scenarios.LoadBytes("a.yaml", []byte(g.write()))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.write())
	}
	var verbs []string
	for _, step := range set.Scenarios[0].Spec.Steps {
		verbs = append(verbs, step.Verb())
	}
	if got := strings.Join(verbs, " "); got != "create patch transition patch transition survives" {
		t.Errorf("the scenario is %s:\n%s", got, g.write())
	}
}

func TestTwinsCrossWhereThePathGoesOn(t *testing.T) {
	of := func(role growth.Role, name string) *entry {
		kind := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}
		return &entry{
			Specimen: &growth.Specimen{Kind: kind, Role: role, Field: name, Body: []byte("{}")},
			verdicts: map[string]verdict{"1.34.4": {accepted: true}},
		}
	}
	for _, test := range []struct{ states, want int }{{2, 0}, {3, 1}} {
		e := &exploration{report: &explorations.Report{}}
		for range test.states {
			e.Path = append(e.Path, clusters.State{Version: "1.34.4"})
		}
		e.corpus = []*entry{of(growth.Alone, "a"), of(growth.Alone, "b"), of(growth.Minimal, ""), of(growth.Whole, "")}
		twins := 0
		for _, one := range e.choose() {
			if one.written {
				twins++
			}
		}
		if twins != test.want {
			t.Errorf("a path of %d states: %d twins, want %d", test.states, twins, test.want)
		}
	}
}

// A gate that is flipped with another one has what comes of both, and not what comes of the other one alone.
func TestAPairOfGatesHasWhatNeedsBoth(t *testing.T) {
	one := func(name string) *entry {
		return &entry{Specimen: &growth.Specimen{Kind: &fields.Kind{
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: name},
		}}}
	}
	needsBelow, needsBoth, either := one("A"), one("B"), one("C")
	all := []*entry{needsBelow, needsBoth, either}
	yes, no := &verdict{accepted: true}, &verdict{}
	usual := []*verdict{no, no, yes}
	states := map[string][]*verdict{"Below": {yes, no, yes}, "Above": {yes, yes, yes}}
	a := &attribution{
		nest: nest{exploration: &exploration{report: &explorations.Report{}}}, disputed: all, usual: usual, flipped: states,
	}
	a.compare(Gate{Name: "Below"})
	a.compare(Gate{Name: "Above", Others: []string{"Below"}})
	for at, want := range []string{"[Below]", "[Above]", "[]"} {
		if got := fmt.Sprint(all[at].gates); got != want {
			t.Errorf("object %d depends on %s, want %s", at, got, want)
		}
	}
}

func TestSystemsOfAPath(t *testing.T) {
	state := func(version string) clusters.State { return clusters.State{Version: version} }
	first, next := clusters.System{Name: "my", Version: "v1"}, clusters.System{Name: "my", Version: "v2"}
	for _, test := range []struct {
		path []string
		want string
	}{
		{[]string{"1.36.3"}, "1.36.3 v1, 1.36.3 v2, 1.36.3 v1"},
		{[]string{"1.35.4", "1.36.3"}, "1.35.4 v1, 1.36.3 v1, 1.36.3 v2"},
		{[]string{"1.35.4", "1.36.3", "1.35.4"}, "1.35.4 v1, 1.36.3 v1, 1.36.3 v2, 1.36.3 v1, 1.35.4 v1"},
		{[]string{"1.36.3", "1.35.4"}, "1.36.3 v1, 1.36.3 v2, 1.36.3 v1, 1.35.4 v1"},
	} {
		var path []clusters.State
		for _, version := range test.path {
			path = append(path, state(version))
		}
		var got []string
		for _, s := range WithSystems(path, []clusters.System{first}, []clusters.System{next}) {
			got = append(got, s.Version+" "+s.Systems[0].Version)
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("got %s, want %s", text, test.want)
		}
	}
	before := clusters.State{Version: "1.36.3", Systems: []clusters.System{first}}
	after := clusters.State{Version: "1.36.3", Systems: []clusters.System{next}}
	if t2 := transition(before, after); len(t2.Systems) != 1 || t2.Systems[0].System.Version != "v2" {
		t.Errorf("the transition of a scenario changes %v", t2.Systems)
	}
}
