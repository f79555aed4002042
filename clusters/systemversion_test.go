package clusters

import (
	"reflect"
	"slices"
	"testing"
)

// operator moves its program and its files, and gets a flag.
func operator() System {
	return System{
		Name: "op", Version: "v1.2.0",
		Module: &SystemModule{Path: "example.org/op", SystemProcess: SystemProcess{
			Command: []string{"--old"}, CRDs: []string{"crds"}, Env: map[string]string{"A": "$(SCENARIO_DIR)"},
		}},
		Versions: []SystemVersion{
			{From: "v1.3.0", Module: &SystemModule{Package: "core", SystemProcess: SystemProcess{CRDs: []string{"moved"}}}},
			{
				From: "v1.10.0", Module: &SystemModule{SystemProcess: SystemProcess{Command: []string{"--new"}}},
				Probes: []map[string]any{{"kind": "Other"}},
			},
		},
	}.Beside("/dir").At("v1.2.0")
}

func TestSystemAtVersions(t *testing.T) {
	state := State{Systems: []System{operator()}}
	for _, move := range []struct {
		to, folder, flag, crds string
		probes                 int
	}{
		{"v1.2.0", ".", "--old", "/dir/crds", 0},
		{"v1.3.0", "core", "--old", "/dir/moved", 0},
		{"v1.10.1", "core", "--new", "/dir/moved", 1},
		{"v1.9.9", "core", "--old", "/dir/moved", 0},
		{"v1.2.9", ".", "--old", "/dir/crds", 0},
		{"1.3", "core", "--old", "/dir/moved", 0},
	} {
		state = state.With(Change{Systems: []SystemChange{{System: System{Name: "op", Version: move.to}}}})
		got := state.Systems[0]
		program, _ := got.Program()
		if program.Folder() != move.folder || program.Version != move.to ||
			!slices.Equal(got.Module.Command, []string{move.flag}) || !slices.Equal(got.Module.CRDs, []string{move.crds}) ||
			len(got.Probes) != move.probes || got.Module.Env["A"] != "/dir" {
			t.Errorf("at %s: %s, %+v, %d probes", move.to, program, got.Module.SystemProcess, len(got.Probes))
		}
	}
	if again := operator(); !reflect.DeepEqual(state.With(Change{Systems: []SystemChange{
		{System: System{Name: "op", Version: "v1.2.0"}},
	}}).Systems[0], again) {
		t.Error("back at its first version the system is not the same")
	}
}

func TestSystemWithVersionsIsReplacedAsAWhole(t *testing.T) {
	other := System{Name: "op", Process: &SystemProcess{Command: []string{"other"}}}
	for name, c := range map[string]System{
		"another kind": other,
		"a module":     {Name: "op", Module: &SystemModule{Path: "example.org/other"}},
	} {
		after := State{Systems: []System{operator()}}.With(Change{Systems: []SystemChange{{System: c}}}).Systems[0]
		if after.Version != "v1.2.0" || len(after.Versions) != 0 || len(after.Launched().CRDs) != 0 {
			t.Errorf("%s: %+v", name, after)
		}
	}
}

// An entry keeps all that it does not give, and probes of a transition stay at each later version.
func TestSystemVersionKeepsTheRest(t *testing.T) {
	s := System{
		Name: "op", Version: "1.0",
		Process: &SystemProcess{Command: []string{"op"}, CertDir: "tls", WebhookPort: 9443, Service: "svc"},
		Versions: []SystemVersion{
			{From: "2.0", Process: &SystemProcess{Command: []string{"op", "--new"}}, Probes: []map[string]any{{"kind": "A"}}},
			{From: "3.0", Process: &SystemProcess{CertDir: "certs3", WebhookPort: 10250}},
		},
	}
	for version, want := range map[string]SystemProcess{
		"1.5": {Command: []string{"op"}, CertDir: "tls", WebhookPort: 9443, Service: "svc"},
		"2.0": {Command: []string{"op", "--new"}, CertDir: "tls", WebhookPort: 9443, Service: "svc"},
		"3.1": {Command: []string{"op", "--new"}, CertDir: "certs3", WebhookPort: 10250, Service: "svc"},
	} {
		if got := s.At(version).Process; !reflect.DeepEqual(*got, want) {
			t.Errorf("at %s: %+v, want %+v", version, *got, want)
		}
	}
	state := State{Systems: []System{s.At("1.0")}}
	for _, c := range []System{
		{Name: "op", Version: "2.0", Probes: []map[string]any{{"kind": "B"}}}, {Name: "op", Version: "3.0"},
	} {
		state = state.With(Change{Systems: []SystemChange{{System: c}}})
		if probes := state.Systems[0].Probes; len(probes) != 1 || probes[0]["kind"] != "B" {
			t.Errorf("at %s the probes are %v", c.Version, probes)
		}
	}
}
