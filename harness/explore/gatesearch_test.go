package explore

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// gatesOf are explored gates: each gate, with the gates that are off with it.
func gatesOf(all [][]string) (gates []Gate, path []clusters.State) {
	high, low := map[string]bool{}, map[string]bool{}
	for _, names := range all {
		off := map[string]bool{}
		for _, name := range names {
			off[name], high[name], low[name] = false, true, false
		}
		gates = append(gates, Gate{Name: names[0], Off: clusters.State{Version: "1.36.3", FeatureGates: off}})
	}
	return gates, []clusters.State{
		{Version: "1.36.3", FeatureGates: high},
		{Version: "1.36.3", FeatureGates: low},
		{Version: "1.36.3", FeatureGates: high},
	}
}

// The gate of a finding is found, although C is off whenever A is.
func TestTheGateOfAFindingIsFound(t *testing.T) {
	o := Options{Base: clusters.State{Version: "1.36.3"}}
	o.Gates, o.Path = gatesOf([][]string{{"A", "C"}, {"B"}, {"C"}, {"D"}, {"E", "F"}, {"F", "E"}})
	sets := o.sets()
	for _, test := range []struct {
		name, first string
		checks      []string
		shows       func(off map[string]bool) bool
		want        string
	}{
		{"one gate", "A", []string{"update"}, func(off map[string]bool) bool { return off["D"] }, "D"},
		{"a gate that needs another", "", []string{"update"}, func(off map[string]bool) bool { return off["C"] }, "C"},
		{"two gates of the same sets", "F", []string{"update"}, func(off map[string]bool) bool { return off["F"] }, "F"},
		{"one of two gates", "A", []string{"update"}, func(off map[string]bool) bool { return off["F"] }, ""},
		{"no gate", "A", []string{"moved"}, func(map[string]bool) bool { return true }, ""},
		{"two gates", "A", []string{"update"}, func(off map[string]bool) bool { return off["B"] && off["D"] }, ""},
		{"two gates, of a dry run", "B", []string{"create", "apply"}, func(off map[string]bool) bool {
			return off["B"] && off["D"]
		}, "B"},
	} {
		shown := 0
		for digit, off := range sets {
			if test.shows(off) {
				shown |= 1 << digit
			}
		}
		if got := o.decoded(&group{gate: test.first, checks: test.checks}, digits{shown, whole(sets)}, sets); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A cluster that broke does not show that a finding does not need its gates. The first guess stays, unless the other
// clusters contradict it.
func TestTheGateOfAFindingIfAClusterBreaks(t *testing.T) {
	for _, test := range []struct {
		first, want string
		breaks      bool
	}{
		{"A", "C", false}, {"C", "C", true}, {"A", "", true},
	} {
		o := Options{Base: clusters.State{Version: "1.36.3"}, Progress: t.Logf}
		o.Gates, o.Path = gatesOf([][]string{{"A"}, {"B"}, {"C"}})
		g := ingress(t, o.Path[0], o.Path[1])
		g.gate = test.first
		e := &exploration{Options: o, limit: t.Context(), groups: []*group{g}, report: &explorations.Report{}}
		s := &gateSearch{exploration: e, digits: map[*group]*digits{}}
		s.send = func(_ context.Context, path []clusters.State, entries []*entry, _ time.Duration) (
			[]*sighting, int, error,
		) {
			off := func(gate string) bool { return !path[1].FeatureGates[gate] }
			shown := &sighting{finding: g.finding, entries: entries, before: path[0], to: path[1]}
			switch {
			case test.breaks && off("A"):
				shown.finding, shown.entries = &upgrades.Finding{Check: "control plane"}, nil
				return []*sighting{shown}, 1, nil
			case off("C"):
				return []*sighting{shown}, 2, nil
			}
			return nil, 2, nil
		}
		golden.Must(t, s.run(t.Context()))
		if g.gate != test.want || (len(e.report.Unjudged) == 1) != test.breaks {
			t.Errorf("first %s, a cluster breaks: %t: got %q, want %q; not judged: %q", test.first, test.breaks, g.gate,
				test.want, e.report.Unjudged)
		}
	}
}

func TestSomeGatesAreOff(t *testing.T) {
	var o Options
	o.Gates, o.Path = gatesOf([][]string{{"A"}, {"B"}})
	o.Path[1].Components = map[clusters.Component]clusters.ComponentState{
		clusters.Scheduler: {FeatureGates: map[string]bool{"B": false, "C": false}},
	}
	state := o.partly(map[string]bool{"A": true, "C": true})
	if !maps.Equal(state.FeatureGates, map[string]bool{"A": false, "B": true}) ||
		!maps.Equal(state.Components[clusters.Scheduler].FeatureGates, map[string]bool{"C": false}) {
		t.Errorf("got %v, and %v for the scheduler", state.FeatureGates, state.Components)
	}
	if !maps.Equal(o.Path[0].FeatureGates, map[string]bool{"A": true, "B": true}) {
		t.Errorf("the first state became %v", o.Path[0].FeatureGates)
	}
}

func TestPathsThatBeginLongerOnesAreCrossedWithThem(t *testing.T) {
	path := func(versions ...string) (all []clusters.State) {
		for _, version := range versions {
			all = append(all, clusters.State{Version: version})
		}
		return all
	}
	all := longest([][]clusters.State{
		path("1.3"), path("1.34.4", "1.35.4"), path("1.34.4", "1.35.4", "1.34.4"), path("1.35.4"),
	})
	var got []string
	for _, one := range all {
		got = append(got, hopsOf(one))
	}
	if want := []string{"1.3", "1.34.4|1.35.4|1.34.4", "1.35.4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
