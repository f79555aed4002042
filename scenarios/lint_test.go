package scenarios

import (
	"reflect"
	"testing"
)

func TestLint(t *testing.T) {
	set := mustLoad(t, `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: doubtful}
spec:
  covers: [A-1]
  cluster: {version: "1.34", featureGates: {A: true}}
  cases:
  - {name: x, used: 1, unused: 2, to: "1.35.1"}
  - {name: y, used: 1, unused: 2, to: "1.36"}
  known:
  - {covers: [A-1], versions: ["1.33", "1.35.2", "1.36"], step: read, reason: it is so}
  steps:
  - transition: {version: "${case.to}"}
  - transition: {featureGates: {A: true}}
  - name: read
    command: {run: [a, "${case.used}"]}
    outputs: {used: stdout, unused: stderr}
  - command: {run: [a, "${outputs.used}"]}
---
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: bare}
spec:
  cluster: {}
  known: []
  steps:
  - command: {run: [a]}
    outputs: {all: stdout}
  - command: {run: [a, "${outputs}"]}
`)
	var got []string
	for _, p := range Lint(set) {
		text := p.String()
		if p.Strict {
			text += " (strict)"
		}
		got = append(got, text)
	}
	want := []string{
		`test.yaml:1:1: doubtful: has no label "system", by which reports group it`,
		`test.yaml:1:1: doubtful: no description: state in one sentence what must hold (strict)`,
		`test.yaml:1:1: doubtful: the known issue of version 1.33 never applies: no state of the path has that version`,
		`test.yaml:1:1: doubtful: the known issue of version 1.35.2 never applies: no state of the path has that version`,
		`test.yaml:8:24: the column "unused" of the table is never used`,
		`test.yaml:17:29: the output "unused" is never used`,
		`test.yaml:20:1: bare: covers no requirement (strict)`,
		`test.yaml:20:1: bare: has no label "system", by which reports group it`,
		`test.yaml:20:1: bare: names no version of Kubernetes to start with`,
		`test.yaml:20:1: bare: no description: state in one sentence what must hold (strict)`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got:\n%q\nwant:\n%q", got, want)
	}
}

// A state without a version may have any version. A minor version, of a state or a known issue, may be any patch of it.
func TestLintKnownVersions(t *testing.T) {
	for _, test := range []struct {
		state, known string
		want         bool
	}{
		{"", "1.34", true},
		{"1.34", "1.34", true},
		{"1.34", "1.34.4", true},
		{"1.34.4", "1.34", true},
		{"1.34.4", "1.34.4", true},
		{"1.34.4", "1.34.5", false},
		{"1.34", "1.35", false},
	} {
		if got := mayBe(test.state, test.known); got != test.want {
			t.Errorf("%q may be %q: %v", test.state, test.known, got)
		}
	}
}
