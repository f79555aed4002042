package features_test

import (
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

func spec(since string, stage features.Stage, value, locked bool) features.Spec {
	return features.Spec{Since: since, Stage: stage, Default: value, Locked: locked}
}

func lists() map[string]*features.List {
	older := &features.List{Version: "1.34.4", Gates: map[string]features.Gate{
		"RacingPods": {Specs: []features.Spec{spec("1.34", features.Alpha, false, false)}},
		"Retired": {Specs: []features.Spec{
			spec("1.20", features.Beta, true, false),
			spec("1.30", features.GA, true, true),
		}},
		"Dropped": {Specs: []features.Spec{spec("1.34", features.Alpha, false, false)}},
		"Picky":   {Specs: []features.Spec{spec("1.30", features.Alpha, false, false)}, Needs: []string{"RacingPods"}},
	}}
	middle := &features.List{
		Version: "1.35.4",
		Gates: map[string]features.Gate{
			"RacingPods": {Specs: []features.Spec{
				spec("1.34", features.Alpha, false, false),
				spec("1.36", features.Beta, true, false),
			}},
			"RacingTeams": {Specs: []features.Spec{spec("1.35", features.Alpha, false, false)}, Needs: []string{"RacingPods"}},
			"FinishLine": {Specs: []features.Spec{
				spec("1.33", features.Beta, true, false),
				spec("1.35", features.GA, true, true),
			}},
			"Photo":      {Specs: []features.Spec{spec("1.34", features.Beta, true, false)}, Needs: []string{"Camera"}},
			"Camera":     {Specs: []features.Spec{spec("1.34", features.Beta, true, false)}},
			"Elsewhere":  {Specs: []features.Spec{spec("1.35", features.Alpha, false, false)}},
			"Overridden": {Specs: []features.Spec{spec("1.33", features.Beta, false, false)}, Needs: []string{"RacingPods"}},
			"Tomorrow":   {Specs: []features.Spec{spec("1.36", features.Alpha, false, false)}},
		},
		Programs: map[clusters.Component]map[string]bool{
			clusters.Scheduler: {
				"RacingPods": false, "RacingTeams": false, "Photo": true, "Camera": true,
				"Overridden": false,
			},
			clusters.ControllerManager: {
				"RacingPods": false, "RacingTeams": false, "Photo": true, "Camera": true,
				"Elsewhere": false, "Overridden": true,
			},
		},
	}
	newer := &features.List{Version: "1.36.3", Gates: map[string]features.Gate{
		"RacingTeams": {Specs: []features.Spec{spec("1.35", features.Alpha, false, false)}, Needs: []string{"RacingPods"}},
		"Fresh":       {Specs: []features.Spec{spec("1.36", features.Alpha, false, false)}},
		"Backported":  {Specs: []features.Spec{spec("1.35", features.Alpha, false, false)}},
	}}
	return map[string]*features.List{
		"1.34.4": older.With(middle, newer),
		"1.35.4": middle.With(newer, older),
		"1.36.3": newer.With(older, middle),
	}
}

func TestCheck(t *testing.T) {
	const out = "omit the gate (null in a transition)"
	for _, test := range []struct {
		name, version string
		component     clusters.Component
		gates         map[string]bool
		want          []string
	}{
		{name: "nothing set", version: "1.35.4"},
		{
			name: "what is allowed", version: "1.35.4",
			gates: map[string]bool{"RacingPods": true, "RacingTeams": true, "FinishLine": true, "Camera": true},
		},
		{name: "with the prefix", version: "1.35.4", gates: map[string]bool{"kube:RacingPods": true}},
		{name: "all of a stage", version: "1.34.4", gates: map[string]bool{"AllAlpha": true, "AllBeta": false}},
		{name: "too new", version: "1.34.4", gates: map[string]bool{"RacingTeams": true}, want: []string{
			"feature gate RacingTeams is unknown to Kubernetes 1.34.4; it was added in 1.35: use that version or a newer " +
				"one, or " + out,
		}},
		{name: "too new, though off", version: "1.34.4", gates: map[string]bool{"RacingTeams": false}, want: []string{
			"feature gate RacingTeams is unknown to Kubernetes 1.34.4; it was added in 1.35: use that version or a newer " +
				"one, or " + out,
		}},
		{name: "too new by the patch", version: "1.35.4", gates: map[string]bool{"Backported": true}, want: []string{
			"feature gate Backported is unknown to Kubernetes 1.35.4; it was added in 1.36.3: use that version or a newer " +
				"one, or " + out,
		}},
		{name: "listed ahead of its version", version: "1.35.4", gates: map[string]bool{"Tomorrow": true}, want: []string{
			"feature gate Tomorrow cannot be set in Kubernetes 1.35.4; it was added in 1.36: use that version or a newer " +
				"one, or " + out,
		}},
		{name: "removed when locked", version: "1.36.3", gates: map[string]bool{"Retired": true}, want: []string{
			"feature gate Retired is unknown to Kubernetes 1.36.3; it was removed after 1.34, where it was locked to true: " +
				out,
		}},
		{name: "removed", version: "1.35.4", gates: map[string]bool{"Dropped": true}, want: []string{
			"feature gate Dropped is unknown to Kubernetes 1.35.4; it was removed after 1.34: " + out,
		}},
		{name: "misspelt", version: "1.35.4", gates: map[string]bool{"RacingPds": true}, want: []string{
			"feature gate RacingPds is unknown to Kubernetes 1.35.4; did you mean RacingPods?",
		}},
		{name: "made up", version: "1.35.4", gates: map[string]bool{"Zzzzzzzzzzzz": true}, want: []string{
			"feature gate Zzzzzzzzzzzz is unknown to Kubernetes 1.35.4; check its spelling and the version that it came " +
				"with, or leave it out",
		}},
		{name: "locked", version: "1.35.4", gates: map[string]bool{"FinishLine": false}, want: []string{
			"feature gate FinishLine cannot be false in Kubernetes 1.35.4: it is locked to true since 1.35 (GA); " + out,
		}},
		{name: "needs what is off", version: "1.35.4", gates: map[string]bool{"RacingTeams": true}, want: []string{
			"feature gate RacingTeams is on in kube-apiserver of Kubernetes 1.35.4 but needs RacingPods, which is off by " +
				"default; set RacingPods to true too, or RacingTeams to false",
		}},
		{name: "needed and turned off", version: "1.35.4", gates: map[string]bool{"Camera": false}, want: []string{
			"feature gate Photo is on by default in kube-apiserver of Kubernetes 1.35.4 but needs Camera, which is off; set " +
				"Camera to true too, or Photo to false",
		}},
		{
			name: "needed and turned off with its stage", version: "1.35.4",
			gates: map[string]bool{"AllBeta": false, "Photo": true}, want: []string{
				"feature gate Photo is on in kube-apiserver of Kubernetes 1.35.4 but needs Camera, which is off through AllBeta; " +
					"set Camera to true too, or Photo to false",
			},
		},
		{name: "all of a stage, with what it needs", version: "1.35.4", gates: map[string]bool{"AllAlpha": true}},
		{
			name: "all of a stage, without what it needs", version: "1.35.4",
			gates: map[string]bool{"AllAlpha": true, "RacingPods": false}, want: []string{
				"feature gate RacingTeams is on through AllAlpha in kube-apiserver of Kubernetes 1.35.4 but needs RacingPods, " +
					"which is off; set RacingPods to true too, or RacingTeams to false",
			},
		},
		{name: "needs are not enforced before 1.35", version: "1.34.4", gates: map[string]bool{"Picky": true}},
		{
			name: "a program without the gate", version: "1.35.4", component: clusters.Scheduler,
			gates: map[string]bool{"Elsewhere": true}, want: []string{
				"feature gate Elsewhere is unknown to kube-scheduler of Kubernetes 1.35.4; kube-controller-manager does know it: " +
					"set it only for kube-controller-manager",
			},
		},
		{
			name: "a program that was not asked", version: "1.35.4", component: clusters.APIServer,
			gates: map[string]bool{"Elsewhere": true},
		},
		{name: "a program with its own default", version: "1.35.4", component: clusters.ControllerManager, want: []string{
			"feature gate Overridden is on by default in kube-controller-manager of Kubernetes 1.35.4 but needs RacingPods, " +
				"which is off by default; set RacingPods to true too, or Overridden to false",
		}},
		{
			name: "several", version: "1.35.4", gates: map[string]bool{"FinishLine": false, "Camera": false, "Dropped": true},
			want: []string{
				"feature gate Dropped is unknown to Kubernetes 1.35.4; it was removed after 1.34: " + out,
				"feature gate FinishLine cannot be false in Kubernetes 1.35.4: it is locked to true since 1.35 (GA); " + out,
				"feature gate Photo is on by default in kube-apiserver of Kubernetes 1.35.4 but needs Camera, which is off; set " +
					"Camera to true too, or Photo to false",
			},
		},
		{
			name: "etcd has none of these gates", version: "1.35.4", component: clusters.Etcd,
			gates: map[string]bool{"InitialCorruptCheck": true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.component == "" {
				test.component = clusters.APIServer
			}
			var got []string
			for _, p := range lists()[test.version].Check(features.VersionsOf(version(t, test.version)), test.component,
				test.gates) {
				if p.Component != test.component || p.Gate == "" {
					t.Errorf("problem of %q with %q", p.Component, p.Gate)
				}
				got = append(got, p.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// A component that emulates an older version has that version's gates. Its --help is not valid for them.
func TestCheckEmulated(t *testing.T) {
	list := lists()["1.35.4"]
	for _, test := range []struct {
		gates map[string]bool
		want  int
	}{
		{map[string]bool{"FinishLine": false}, 0}, // locked since 1.35
		{map[string]bool{"RacingTeams": true}, 1}, // alpha since 1.35
		{map[string]bool{"Camera": false}, 1},     // programs since 1.35 enforce dependencies at every emulated version
	} {
		versions, err := features.VersionsIn(list.Of(), map[string]string{"emulated-version": "1.34"})
		if err != nil {
			t.Fatal(err)
		}
		if got := list.Check(versions, clusters.Scheduler, test.gates); len(got) != test.want {
			t.Errorf("%v at 1.34: %v", test.gates, got)
		}
	}
}

func TestAt(t *testing.T) {
	gate := features.Gate{Specs: []features.Spec{
		spec("1.33", features.Alpha, false, false), spec("1.35", features.Beta, false, false),
		{Since: "1.35", Stage: features.Beta, Default: true, MinCompatibility: "1.35"},
		spec("1.37", features.GA, true, true),
		{Since: "1.38", Stage: features.GA, MinCompatibility: "1.38"},
		{Since: "1.39", Stage: features.Deprecated, MinCompatibility: "1.38"},
	}}
	for _, test := range []struct {
		version string
		want    features.Spec
		started bool
	}{
		{"1.32.9", features.Spec{}, false},
		{"1.33.0", gate.Specs[0], true},
		{"1.34.4", gate.Specs[0], true},
		{"1.35.0", gate.Specs[1], true},
		{"1.36.0", gate.Specs[2], true},
		{"1.37.0-alpha.1", gate.Specs[3], true},
		{"1.38.2", gate.Specs[3], true},
		{"1.39.0", gate.Specs[5], true},
		{"1.40.0", gate.Specs[5], true},
	} {
		if got, started := gate.At(version(t, test.version)); got != test.want || started != test.started {
			t.Errorf("at %s: %+v, %t", test.version, got, started)
		}
	}
}
