package initialize

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/starters"
)

// Init rejects values of flags that would become a scenario that does not load.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name string
		f    flags
		want string
	}{
		{"nothing wrong", flags{gate: "A", version: "1.36", kep: "5311", name: "my.gate-1"}, ""},
		{"the gate comes from the enhancement", flags{kep: "5311", version: "1.36"}, ""},
		{"a system", flags{system: "my-operator=process:Some File.yaml"}, ""},
		{"a name that is a path", flags{gate: "A", name: "a/b"}, "--name a/b: a lowercase RFC 1123 subdomain"},
		{"a name that is too long", flags{gate: "A", name: strings.Repeat("a", 300)}, "no more than 253"},
		{"a system's name", flags{system: "My_Operator"}, "--system My_Operator: the name of the system: a lowercase"},
		{"a defined system's name", flags{system: "a.b=process:x.yaml"}, "--system a.b=process:x.yaml: the name"},
		{"no name of a system", flags{system: "=process:x.yaml"}, "--system =process:x.yaml: the name"},
		{"an enhancement's name", flags{kep: "KEP-5311"}, "--kep KEP-5311: want the number of an enhancement"},
		{"a version of an upgrade", flags{from: "1.35", version: "1.36"}, "--version 1.36 is the version in which a gate"},
		{"a version of a system", flags{system: "a", kep: "1", version: "1.36"}, "add --gate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden.Error(t, test.f.check(), test.want)
		})
	}
}

// The folder of a new suite loads as a whole: its requirements are no scenarios.
func TestFolderOfASuiteLoads(t *testing.T) {
	folder := t.TempDir()
	suite := starters.Suite{Name: "my-operator", From: "1.36", To: "1.37", Simulator: true}
	files, err := suite.Write()
	golden.Must(t, err)
	golden.Must(t, writeAll(folder, files, false))
	if set, err := scenarios.Load([]string{folder}); err != nil || len(set.Scenarios) == 0 {
		t.Errorf("loaded %v: %v", set, err)
	}
}
