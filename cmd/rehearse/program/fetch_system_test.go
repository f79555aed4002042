package program

import (
	"slices"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
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
		if err := s.read(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, program := range s.of(set.Scenarios[0]) {
			got = append(got, program.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", flag, got, want)
		}
	}
}
