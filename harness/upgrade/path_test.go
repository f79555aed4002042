package upgrade

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// versions is a provider that has patch 9 of every minor version, and checks nothing.
type versions struct{ clusters.Provider }

func (versions) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	v, err := clusters.ParseVersion(state.Version)
	if err == nil && !v.Exact() {
		v.Patch = 9
	}
	state.Version = v.String()
	return state, err
}

func (versions) Check(_ context.Context, path []clusters.State) error {
	for _, state := range path {
		if _, bad := state.FeatureGates["Bad"]; bad {
			return errors.New("no gate Bad")
		}
	}
	return nil
}

func operator(version string) []clusters.System {
	return []clusters.System{{Name: "op", Version: version, Process: &clusters.SystemProcess{Command: []string{"true"}}}}
}

func TestPath(t *testing.T) {
	on := map[string]bool{"A": true}
	v1, v2 := operator("v1"), operator("v2")
	with := func(version string, systems []clusters.System) clusters.State {
		return clusters.State{Version: version, Systems: systems}
	}
	gate := func(value bool) map[string]*bool { return map[string]*bool{"A": &value} }
	ofServer := clusters.State{Version: "1.34", Components: map[clusters.Component]clusters.ComponentState{
		clusters.APIServer: {FeatureGates: on},
	}}
	for _, test := range []struct {
		name string
		w    Wanted
		want string
	}{
		{
			"one minor",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{Version: "1.35"}},
			"start 1.34.9, upgrade 1.35.9, rollback 1.34.9, upgrade 1.35.9, redeploy 1.35.9, rollback 1.34.9",
		},
		{
			"two minors",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{Version: "1.36.1"}},
			"start 1.34.9, upgrade 1.35.9, upgrade 1.36.1, rollback 1.35.9, rollback 1.34.9, upgrade 1.35.9, upgrade 1.36.1, " +
				"redeploy 1.36.1, rollback 1.35.9, rollback 1.34.9",
		},
		{
			"a patch",
			Wanted{From: clusters.State{Version: "1.34.1"}, To: clusters.Change{Version: "1.34.4"}, NoRedeploy: true},
			"start 1.34.1, upgrade 1.34.4, rollback 1.34.1, upgrade 1.34.4",
		},
		{
			"no way back",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{Version: "1.36"}, NoRollback: true},
			"start 1.34.9, upgrade 1.35.9, upgrade 1.36.9",
		},
		{
			"a gate alone",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{FeatureGates: gate(true)}},
			"start 1.34.9, upgrade 1.34.9 A=true, rollback 1.34.9, upgrade 1.34.9 A=true, " +
				"redeploy 1.34.9 A=true, rollback 1.34.9",
		},
		{
			"gates of the beginning stay",
			Wanted{
				From: clusters.State{Version: "1.34", FeatureGates: on},
				To:   clusters.Change{Version: "1.36", FeatureGates: gate(false)}, NoRollback: true,
			},
			"start 1.34.9 A=true, upgrade 1.35.9 A=true, upgrade 1.36.9 A=false",
		},
		{
			"the target changes the gate of one component",
			Wanted{From: ofServer, To: clusters.Change{FeatureGates: gate(false)}, NoRollback: true},
			"start 1.34.9 kube-apiserver:A=true, upgrade 1.34.9 A=false",
		},
		{
			"the target returns the gate of one component to its default",
			Wanted{From: ofServer, To: clusters.Change{FeatureGates: map[string]*bool{"A": nil}}, NoRollback: true},
			"start 1.34.9 kube-apiserver:A=true, upgrade 1.34.9",
		},
		{
			"down",
			Wanted{From: clusters.State{Version: "1.36"}, To: clusters.Change{Version: "1.34"}, NoRollback: true},
			"start 1.36.9, rollback 1.35.9, rollback 1.34.9",
		},
		{
			"in two steps",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{Version: "1.36.1"}, NoRollback: true, Strategy: TwoStep},
			"start 1.34.9, upgrade 1.35.9 emulatedVersion=1.34, upgrade 1.35.9, upgrade 1.36.1 emulatedVersion=1.35, upgrade 1.36.1",
		},
		{
			"in two steps, and back",
			Wanted{From: clusters.State{Version: "1.35", FeatureGates: on}, To: clusters.Change{Version: "1.36", FeatureGates: gate(false)}, NoRedeploy: true, Strategy: TwoStep},
			"start 1.35.9 A=true, upgrade 1.36.9 emulatedVersion=1.35 A=true, upgrade 1.36.9 A=false, rollback 1.36.9 emulatedVersion=1.35 A=true, rollback 1.35.9 A=true, " +
				"upgrade 1.36.9 emulatedVersion=1.35 A=true, upgrade 1.36.9 A=false",
		},
		{
			"over two minors at once",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{Version: "1.36.1"}, NoRollback: true, Strategy: SkipLevel},
			"start 1.34.9, upgrade 1.36.1 emulatedVersion=1.34, upgrade 1.36.1 emulatedVersion=1.35, upgrade 1.36.1",
		},
		{
			"down over two minors at once",
			Wanted{From: clusters.State{Version: "1.36.1"}, To: clusters.Change{Version: "1.34"}, NoRollback: true, Strategy: SkipLevel},
			"start 1.36.1, rollback 1.36.1 emulatedVersion=1.35, rollback 1.36.1 emulatedVersion=1.34, rollback 1.34.9",
		},
		{
			"down and up",
			Wanted{From: clusters.State{Version: "1.36"}, To: clusters.Change{Version: "1.35"}},
			"start 1.36.9, rollback 1.35.9, upgrade 1.36.9, rollback 1.35.9, redeploy 1.35.9, upgrade 1.36.9",
		},
		{
			"a patch in two steps",
			Wanted{From: clusters.State{Version: "1.34.1"}, To: clusters.Change{Version: "1.34.4"}, Strategy: TwoStep},
			"strategy two-step from 1.34.1 to 1.34.4: the minor version must change",
		},
		{
			"a version that cannot be emulated",
			Wanted{From: clusters.State{Version: "1.33"}, To: clusters.Change{Version: "1.37"}, Strategy: SkipLevel},
			"strategy skip-level, 1.37.9 emulatedVersion=1.33: emulatedVersion: Kubernetes 1.37.9 takes 1.34 to 1.37, not 1.33",
		},
		{
			"a system after Kubernetes",
			Wanted{From: with("1.34", v1), To: clusters.Change{Version: "1.35"}, Upgraded: v2, NoRedeploy: true},
			"start 1.34.9 op(process, v1), upgrade 1.35.9 op(process, v1), upgrade 1.35.9 op(process, v2), " +
				"rollback 1.35.9 op(process, v1), rollback 1.34.9 op(process, v1), " +
				"upgrade 1.35.9 op(process, v1), upgrade 1.35.9 op(process, v2)",
		},
		{
			"a system alone",
			Wanted{From: with("1.34", v1), Upgraded: v2, NoRollback: true},
			"start 1.34.9 op(process, v1), upgrade 1.34.9 op(process, v2)",
		},
		{
			"an invalid system",
			Wanted{From: with("1.34", []clusters.System{{Name: "op"}}), Upgraded: v2},
			"system op: it is neither simulated nor a process nor a module nor manifests",
		},
		{
			"nothing",
			Wanted{From: clusters.State{Version: "1.34"}, To: clusters.Change{Version: "1.34.9"}},
			"nothing changes between 1.34.9 and 1.34.9; name another version with --to, gates with --feature-gates, or another definition of a system with --upgrade",
		},
		{
			"no version",
			Wanted{From: clusters.State{Version: "new"}},
			`version "new": want a Kubernetes version such as "1.34" or "1.34.4" (in quotes, or YAML reads it as a number)`,
		},
		{
			"a path that the provider rejects",
			Wanted{
				From: clusters.State{Version: "1.34", FeatureGates: map[string]bool{"Bad": true}},
				To:   clusters.Change{Version: "1.35"},
			},
			"no gate Bad",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, err := NewPath(t.Context(), versions{}, test.w)
			var all []string
			for i, state := range path.States {
				all = append(all, path.Ways[i]+" "+state.String())
			}
			got := strings.Join(all, ", ")
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// The name of a state contains the systems that change on the path.
func TestNamesOfSystems(t *testing.T) {
	same := operator("v1")
	same[0].Process = &clusters.SystemProcess{Command: []string{"false"}}
	beside := clusters.System{Name: "beside", Process: &clusters.SystemProcess{Command: []string{"true"}}}
	path := []clusters.State{
		{Version: "1.34.9", Systems: append(operator("v1"), beside)},
		{Version: "1.35.9", Systems: append(operator("v1"), beside)},
		{Version: "1.35.9", Systems: append(operator("v2"), beside)},
		{Version: "1.35.9", Systems: append(same, beside)},
	}
	var names []string
	for _, state := range path {
		names = append(names, name(state, path))
	}
	const want = "1.34.9, op v1; 1.35.9, op v1; 1.35.9, op v2; 1.35.9, op v1 changed"
	if got := strings.Join(names, "; "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The names of states do not contain what all states have in common.
func TestNamesOfStates(t *testing.T) {
	nodes := []clusters.NodeGroup{{}}
	path := []clusters.State{
		{Version: "1.34.9", Nodes: nodes, FeatureGates: map[string]bool{"A": true, "B": true}},
		{Version: "1.35.9", Nodes: nodes, FeatureGates: map[string]bool{"A": true, "B": false}},
	}
	if got, want := name(path[0], path)+", "+name(path[1], path), "1.34.9 B=true, 1.35.9 B=false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
