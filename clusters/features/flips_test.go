package features_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

func described(flips []features.Flip) []string {
	var all []string
	for _, f := range flips {
		all = append(all, fmt.Sprintf("%s %s: %s %v changes: %t", f.Gate, f.Kind, f, f.Components, f.ChangesDefault()))
	}
	return all
}

func TestFlips(t *testing.T) {
	one := func(since string, stage features.Stage, value, locked bool) features.Gate {
		return features.Gate{Specs: []features.Spec{spec(since, stage, value, locked)}}
	}
	older := &features.List{Version: "1.35.4", Gates: map[string]features.Gate{
		"GoesOn": one("1.34", features.Alpha, false, false), "GoesOff": one("1.30", features.Beta, true, false),
		"Matures": one("1.30", features.Beta, true, false), "Rises": one("1.34", features.Alpha, false, false),
		"Loosened": one("1.30", features.GA, true, true), "Stays": one("1.30", features.Beta, true, false),
		"Retired": one("1.30", features.GA, true, true), "Dropped": one("1.30", features.Alpha, false, false),
		"Ahead": one("1.36", features.Alpha, false, false), "Overridden": one("1.35", features.Beta, false, false),
	}}
	newer := &features.List{Version: "1.36.3", Gates: map[string]features.Gate{
		"GoesOn": one("1.36", features.GA, true, true), "GoesOff": one("1.36", features.Beta, false, false),
		"Matures": one("1.36", features.GA, true, true), "Rises": one("1.36", features.Beta, false, false),
		"Loosened": one("1.36", features.Deprecated, true, false), "Stays": one("1.30", features.Beta, true, false),
		"Fresh": one("1.36", features.Alpha, false, false), "FreshAndOn": one("1.36", features.Beta, true, false),
		"Early": {Specs: []features.Spec{
			spec("1.36", features.Beta, false, false), {
				Since: "1.36", Stage: features.Beta, Default: true,
				MinCompatibility: "1.36",
			},
		}},
		"Ahead": one("1.36", features.Alpha, false, false), "Overridden": one("1.36", features.Beta, true, false),
	}}
	up := []string{
		"GoesOn turns on: Alpha, off -> GA, on, locked [] changes: true",
		"Overridden turns on: Beta, off -> Beta, on [] changes: true",
		"GoesOff turns off: Beta, on -> Beta, off [] changes: true",
		"Ahead new: absent -> Alpha, off [] changes: false",
		"Early new: absent -> Beta, off [] changes: false",
		"Fresh new: absent -> Alpha, off [] changes: false",
		"FreshAndOn new: absent -> Beta, on [] changes: true",
		"Dropped removed: Alpha, off -> absent [] changes: true",
		"Retired removed: GA, on, locked -> absent [] changes: false",
		"Matures locked: Beta, on -> GA, on, locked [] changes: false",
		"Loosened unlocked: GA, on, locked -> Deprecated, on [] changes: false",
	}
	if got := described(features.Flips(older, newer)); !slices.Equal(got, up) {
		t.Errorf("up: got\n%q\nwant\n%q", got, up)
	}
	down := described(features.Flips(newer, older))
	for _, want := range []string{
		"GoesOn turns off: GA, on, locked -> Alpha, off [] changes: true",
		"Dropped new: absent -> Alpha, off [] changes: false",
		"Matures unlocked: GA, on, locked -> Beta, on [] changes: false",
	} {
		if !slices.Contains(down, want) || len(down) != len(up) {
			t.Errorf("down: no %q in %q", want, down)
		}
	}
}

// A program may have another default than the list, or may not know the gate at all.
func TestFlipsByComponent(t *testing.T) {
	asked := func(version string, specs map[string]features.Spec,
		programs map[clusters.Component]map[string]bool,
	) *features.List {
		list := &features.List{Version: version, Gates: map[string]features.Gate{}, Programs: programs}
		for name, s := range specs {
			list.Gates[name] = features.Gate{Specs: []features.Spec{s}}
		}
		return list
	}
	const server, manager, scheduler = clusters.APIServer, clusters.ControllerManager, clusters.Scheduler
	older := asked("1.35.4", map[string]features.Spec{
		"Watch": spec("1.30", features.Beta, false, false), "Lone": spec("1.30", features.Alpha, false, false),
		"Matures": spec("1.30", features.Beta, false, false),
	}, map[clusters.Component]map[string]bool{
		server: {"Watch": false, "Lone": false}, manager: {"Watch": true}, scheduler: {"Watch": false, "Matures": false},
	})
	newer := asked("1.36.3", map[string]features.Spec{
		"Watch": spec("1.36", features.Beta, true, false), "Lone": spec("1.36", features.Beta, true, false),
		"Matures": spec("1.36", features.GA, true, true),
	}, map[clusters.Component]map[string]bool{
		server: {"Watch": true, "Lone": true}, manager: {"Watch": true, "Lone": true}, scheduler: {"Watch": true},
	})
	want := []string{
		"Lone turns on: Alpha, off -> Beta, on [kube-apiserver] changes: true",
		"Matures turns on: Beta, off -> GA, on, locked [kube-scheduler] changes: true",
		"Watch turns on: Beta, off -> Beta, on [kube-apiserver kube-scheduler] changes: true",
		"Lone new: absent -> Beta, on [kube-controller-manager] changes: true",
	}
	if got := described(features.Flips(older, newer)); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	newer.Programs = nil // the programs of one version are not in the cache
	if got := described(features.Flips(older, newer)); len(got) != 3 || !slices.Contains(got, want[1]) {
		t.Errorf("with one version's programs: %q", got)
	}
}
