package clusters

import (
	"reflect"
	"strings"
	"testing"
)

func TestModuleProgram(t *testing.T) {
	for _, c := range []struct {
		module ModuleProgram
		text   string
		wrong  string
	}{
		{ModuleProgram{Path: "example.com/m", Version: "v1.2.3"}, "example.com/m@v1.2.3", ""},
		{ModuleProgram{"example.com/m/v3", "v3.0.0-rc.1", "./cmd/x/"}, "cmd/x of example.com/m/v3@v3.0.0-rc.1", ""},
		{ModuleProgram{"example.com/m", "v0.0.0-20251031094455-46f20778634f", "."}, "", ""},
		{ModuleProgram{Version: "v1.2.3"}, "", "needs its path"},
		{ModuleProgram{Path: "example.com/m"}, "", "module example.com/m needs a version, such as v1.2.3"},
		{ModuleProgram{Path: "example.com/m", Version: "1.2.3"}, "", "such as v1.2.3: write v1.2.3"},
		{ModuleProgram{Path: "example.com/m", Version: "latest"}, "", `"latest" is no exact version`},
		{ModuleProgram{Path: "example.com/m", Version: "v2.0.0"}, "", "v2"},
		{ModuleProgram{Path: "not a path", Version: "v1.0.0"}, "", "malformed module path"},
		{ModuleProgram{"example.com/m", "v1.0.0", "../x"}, "", `package "../x" is no folder of the module`},
		{ModuleProgram{"example.com/m", "v1.0.0", "/x"}, "", `package "/x" is no folder of the module`},
	} {
		err := c.module.Check()
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%v: got %v, want %q", c.module, err, c.wrong)
		}
		if c.text != "" && c.module.String() != c.text {
			t.Errorf("got %s, want %s", c.module, c.text)
		}
	}
}

// A change of a module needs no more than a version.
func TestModuleChanges(t *testing.T) {
	system := System{Name: "m", Version: "v1.0.0", Module: &SystemModule{
		Path: "example.com/m", Package: "cmd/a", SystemProcess: SystemProcess{
			Command: []string{"--dir=$(SCENARIO_DIR)"}, CRDs: []string{"crds.yaml", "$(MODULE)/crds"},
			Objects: []map[string]any{{"kind": "Namespace"}},
		},
	}}.Beside("/scenarios")
	if got := system.Module.Command[0] + " " + strings.Join(system.Module.CRDs, " "); got !=
		"--dir=/scenarios /scenarios/crds.yaml $(MODULE)/crds" {
		t.Error(got)
	}
	before := State{Version: "1.35", Systems: []System{system}}
	after := before.With(Change{Systems: []SystemChange{{System: System{Name: "m", Version: "v1.1.0"}}}})
	want := system
	want.Version = "v1.1.0"
	if !reflect.DeepEqual(after.Systems[0], want) || before.Systems[0].Version != "v1.0.0" {
		t.Errorf("got %+v", after.Systems[0])
	}
	if _, what := after.Difference(before); what != "m(module, v1.1.0)" {
		t.Errorf("the difference is %q", what)
	}
	after = after.With(Change{Systems: []SystemChange{{System: System{Name: "m", Module: &SystemModule{
		Package: "cmd/b", SystemProcess: SystemProcess{Command: []string{"--other"}},
	}}}}})
	program, ok := after.Systems[0].Program()
	if !ok || program != (ModuleProgram{"example.com/m", "v1.1.0", "cmd/b"}) ||
		!reflect.DeepEqual(after.Systems[0].Module.CRDs, system.Module.CRDs) ||
		after.Systems[0].Launched().Command[0] != "--other" || before.Systems[0].Module.Package != "cmd/a" {
		t.Errorf("got %+v", after.Systems[0].Module)
	}
	if !NamesModule("a $(MODULE)/b") || NamesModule("$$(MODULE)") || NamesModule("$(DIR)") {
		t.Error("what names the module's folder is not known")
	}
}
