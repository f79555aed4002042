package reports

import "testing"

func TestEffectiveGateString(t *testing.T) {
	on := func(component string) GateReading {
		return GateReading{Component: component, Metric: "m", Enabled: true, Stage: "Beta"}
	}
	off := func(component string) GateReading {
		return GateReading{Component: component, Metric: "m", Stage: "Alpha"}
	}
	unknown := func(component string) GateReading { return GateReading{Component: component, NotProven: "no answer"} }
	state := StateGates{State: "1.35.4 A=true", Version: "1.35.4"}
	for _, test := range []struct {
		gate EffectiveGate
		want string
	}{
		{EffectiveGate{Gate: "A", Readings: []GateReading{on("x")}}, "A=true (Beta; x: metric m 1)"},
		{EffectiveGate{Gate: "A", Readings: []GateReading{on("x"), on("y")}}, "A=true (Beta; x, y: metric m 1)"},
		{
			EffectiveGate{Gate: "A", NeededBy: "B", Readings: []GateReading{off("x")}},
			"A=false (needed by B; Alpha; x: metric m 0)",
		},
		{
			EffectiveGate{Gate: "A", Readings: []GateReading{on("x"), off("y"), unknown("z"), on("u"), unknown("v")}},
			"A=true (Beta; x, u: metric m 1), A=false (Alpha; y: metric m 0), A not proven (z, v: no answer)",
		},
	} {
		if got := test.gate.String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		state.Gates = append(state.Gates, test.gate)
	}
	s := &Scenario{Gates: []string{"A=true"}, StateGates: []StateGates{{Version: "1.34.4"}}}
	if got := gatesOf(s); got != "A=true" {
		t.Errorf("before any state was reached: %q", got)
	}
	state.Gates = state.Gates[:1]
	s.StateGates = append(s.StateGates, state, state)
	if got, want := gatesOf(s), "1.35.4: A=true (Beta; x: metric m 1); 1.35.4: A=true (Beta; x: metric m 1)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
