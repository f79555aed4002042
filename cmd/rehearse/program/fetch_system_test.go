package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The versions of a matrix replace those of the scenario for the system and its replicas, and for no other system.
func TestFetchForMatrix(t *testing.T) {
	set, err := scenarios.LoadBytes("a.yaml", []byte(`apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  cluster: {version: "1.35", systems: [
    {name: op, version: v1.0.0, module: {path: example.com/op}, versions: [{from: v2.0.0, module: {package: cmd}}]},
    {name: op-leader, version: v1.0.0, module: {path: example.com/op}},
    {name: other, version: v1.0.0, module: {path: example.com/other}}]}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`))
	golden.Must(t, err)
	for flag, want := range map[string][]string{
		"": {"example.com/op@v1.0.0", "example.com/op@v1.0.0", "example.com/other@v1.0.0"},
		"op": {
			"example.com/op@v1.1.0", "cmd of example.com/op@v2.0.0", "example.com/op@v1.1.0", "example.com/op@v2.0.0",
			"example.com/other@v1.0.0",
		},
		"other": {
			"example.com/op@v1.0.0", "example.com/op@v1.0.0", "example.com/other@v1.1.0", "example.com/other@v2.0.0",
		},
	} {
		s := fetchedSystem{flag: flag}
		if flag != "" {
			s.versions = []string{"v1.1.0", "v2.0.0"}
		}
		golden.Must(t, s.read([]string{"a.yaml"}))
		var got []string
		for _, program := range s.of(set.Scenarios[0]) {
			got = append(got, program.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", flag, got, want)
		}
	}
}

// A system of which nothing can be built is an error before anything is fetched.
func TestFetchOfNoProgram(t *testing.T) {
	t.Chdir("../../..")
	for words, want := range map[string]string{
		"--system jobset --versions v0.10.1 1.36":          "--system jobset: name the file or folder of scenarios",
		"--system kai --versions 1,2 scenarios/kai":        "--system kai: scenarios/kai: the system is simulated",
		"--system jobset --versions v0.10.1 scenarios/kai": "--system jobset: scenarios/kai: no scenario has this system",
	} {
		command := newFetchCommand()
		command.SetArgs(strings.Fields(words))
		command.SilenceUsage, command.SilenceErrors = true, true
		golden.Error(t, command.ExecuteContext(t.Context()), want)
	}
}
