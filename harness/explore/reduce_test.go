package explore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// An object is reduced to the required field c and a field that the finding needs. The finding's message may name that
// field, another one, or none.
func TestAnObjectIsReduced(t *testing.T) {
	for _, test := range []struct {
		name, needs, words, want string
		rounds                   int
	}{
		{"the message names the field", "b", `spec.b: Invalid value: "y"`, `{"b":"y","c":"z"}`, 1},
		{"the message names another field", "a", `spec.b: Invalid value: "y"`, `{"a":"x","c":"z"}`, 2},
		{"the message names no field", "", "500 InternalError", `{"c":"z"}`, 2},
		{"each field is enough", "a|b", "500 InternalError", `{"b":"y","c":"z"}`, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			on, off := states()
			g := ingress(t, on, off)
			g.finding.Words = test.words
			r := &reduction{group: g}
			round := 0
			for ; round < rounds && !r.done; round++ {
				r.vary(on)
				r.learn(func(one *entry) bool { return shown(one, test.needs) })
			}
			text, _ := json.Marshal(g.smallest.Object()["spec"])
			if string(text) != test.want || round != test.rounds || !r.done {
				t.Errorf("the smallest object has %s after %d rounds (done: %t)", text, round, r.done)
			}
		})
	}
}

// shown reports whether an object has the required field c, and one of the fields of spec that a finding needs.
func shown(one *entry, needs string) bool {
	spec, _ := one.Object()["spec"].(map[string]any)
	if spec["c"] == nil {
		return false
	}
	for name := range strings.SplitSeq(needs, "|") {
		if needs == "" || spec[name] != nil {
			return true
		}
	}
	return false
}

// If several places can be removed alone, but no half of them together, the search continues with the smallest variant.
func TestPlacesThatDependOnEachOtherAreRemoved(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	spec := g.smallest.Kind.Root.Children[0]
	object := g.smallest.Object()
	for _, name := range []string{"d", "e"} {
		spec.Children = append(spec.Children, &fields.Field{Type: fields.String, Path: fields.Path{"spec", name}})
		object["spec"].(map[string]any)[name] = "v"
	}
	g.smallest.Body, g.finding.Words = growth.Text(object), "500 InternalError"
	r := &reduction{group: g}
	for round := 0; round < rounds && !r.done; round++ {
		r.vary(on)
		r.learn(func(one *entry) bool {
			has := func(name string) bool { return shown(one, name) }
			return has("a") && has("d") || has("b") && has("e")
		})
	}
	if text, _ := json.Marshal(g.smallest.Object()["spec"]); string(text) != `{"b":"y","c":"z","e":"v"}` &&
		string(text) != `{"a":"x","c":"z","d":"v"}` {
		t.Errorf("the smallest object has %s", text)
	}
}

// An object with many fields is split into parts, so fewer objects than fields are tried.
func TestALargeObjectIsReduced(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	spec := g.smallest.Kind.Root.Children[0]
	object := g.smallest.Object()
	for i := range 100 {
		name := fmt.Sprintf("f%02d", i)
		spec.Children = append(spec.Children, &fields.Field{Type: fields.String, Path: fields.Path{"spec", name}})
		object["spec"].(map[string]any)[name] = "v"
	}
	g.smallest.Body, g.finding.Words = growth.Text(object), "500 InternalError"
	r := &reduction{group: g}
	tried := 0
	for round := 0; round < rounds && !r.done; round++ {
		r.vary(on)
		tried += len(r.entries())
		r.learn(func(one *entry) bool { return shown(one, "f17") && shown(one, "f71") })
	}
	text, _ := json.Marshal(g.smallest.Object()["spec"])
	if string(text) != `{"c":"z","f17":"v","f71":"v"}` || !r.done || tried > 100 {
		t.Errorf("the smallest object has %s after %d objects (done: %t)", text, tried, r.done)
	}
}

// A smaller object may fail for fewer causes. It is the same finding.
func TestAFindingMayHaveFewerCauses(t *testing.T) {
	of := func(words string) *sighting {
		return &sighting{
			finding: &upgrades.Finding{Severity: upgrades.Breaks, Check: "create", Words: words},
			before:  clusters.State{Version: "1.36.3"}, to: clusters.State{Version: "1.37.2"},
		}
	}
	const invalid = `422 Invalid: Pod "explore-1" is invalid: `
	reference, mount := "spec.volumes[0].image.reference: Required value",
		`spec.containers[0].volumeMounts[0].name: Not found: "a"`
	both := of(invalid + "[" + reference + ", " + mount + "]")
	for _, test := range []struct {
		words string
		want  bool
	}{
		{both.finding.Words, true},
		{invalid + reference, true},
		{invalid + mount, true},
		{invalid + "[" + reference + ", spec.nodeName: Duplicate value, " + mount + "]", false},
		{invalid + "spec: Forbidden: no", false},
		{"500 InternalError: no", false},
	} {
		other := of(test.words)
		got := like(map[string]*sighting{keyOf(other): other}, keyOf(both))
		if (got == other) != test.want {
			t.Errorf("%s: the same finding: %t, want %t", test.words, got == other, test.want)
		}
	}
	g := &group{key: keyOf(both), finding: both.finding}
	if g.narrow(of(invalid + mount)); g.finding.Words != invalid+mount || g.key != keyOf(of(invalid+mount)) {
		t.Errorf("the finding is %q with the key %q", g.finding.Words, g.key)
	}
}

func TestListItemsAreRemovedExceptTheLast(t *testing.T) {
	item := &fields.Field{Type: fields.Object, Path: fields.Path{"items", fields.Item}, Required: true}
	list := &fields.Field{Type: fields.List, Path: fields.Path{"items"}, Required: true, Children: []*fields.Field{item}}
	kind := &fields.Kind{Root: &fields.Field{Type: fields.Object, Children: []*fields.Field{list}}}
	for body, want := range map[string]int{`{"items":[{},{}]}`: 2, `{"items":[{}]}`: 0} {
		if got := removable(&entry{Specimen: &growth.Specimen{Kind: kind, Body: []byte(body)}}); len(got) != want {
			t.Errorf("of %s, %v may be removed", body, got)
		}
	}
}

func TestFindingsWithTheSameSmallestObjectAreJoined(t *testing.T) {
	path := []clusters.State{{Version: "1.35.4"}, {Version: "1.36.3"}}
	one := func(key, gate, kind, body string) *group {
		smallest := &entry{Specimen: &growth.Specimen{Body: []byte(body)}}
		return &group{
			key: "1.35|1.36|update|breaks|" + key, gate: gate, kinds: []string{kind}, smallest: smallest, entries: []*entry{smallest},
			route: route{path: path},
		}
	}
	all := merged([]*group{
		one("a", "B,C", "Pod", "{}"), one("a", "B,D", "Job", "{}"), one("a", "E", "Pod", `{"a":1}`),
		one("a", "E", "Job", `{"a":1,"b":2}`), one("b", "B", "Pod",
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

func TestWhatControllersCreateIsPartOfTheFinding(t *testing.T) {
	one := func(checks, words, kind, body string) *group {
		smallest := &entry{Specimen: &growth.Specimen{Body: []byte(body)}}
		return &group{
			key: "1.33|1.34|" + checks + "|breaks|" + words, kinds: []string{kind}, smallest: smallest,
			entries: []*entry{smallest}, finding: &upgrades.Finding{Words: kind},
		}
	}
	all := merged([]*group{
		one("label,update", "FIELD: no", "Pod of Deployment", "{}"),
		one("create,label,update", "FIELD: no", "Deployment", "{ }"),
		one("label,update", "FIELD: other", "Pod of Deployment", "{}"),
		{key: "panic|Pod|", finding: &upgrades.Finding{}},
	})
	if len(all) != 3 || !slices.Equal(all[0].kinds, []string{"Deployment", "Pod of Deployment"}) ||
		all[0].finding.Words != "Deployment" || len(all[0].entries) != 2 {
		t.Errorf("%d findings, the first is about %v, with %d objects", len(all), all[0].kinds, len(all[0].entries))
	}
}

// A finding that was found with several gates gets the path of its own gate. If that does not reproduce it, the path of
// all gates is still known.
func TestAFindingGetsThePathOfItsOwnGate(t *testing.T) {
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
