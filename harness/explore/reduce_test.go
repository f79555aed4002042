package explore

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
)

func TestAnObjectIsReduced(t *testing.T) {
	on, off := states()
	g := ingress(t, on, off)
	r := &reduction{group: g}
	// The finding needs the field b alone; c is required by the schema.
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
		t.Errorf("the smallest object has %s", text)
	}
}

func TestFindingsWithTheSameSmallestObjectAreJoined(t *testing.T) {
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
