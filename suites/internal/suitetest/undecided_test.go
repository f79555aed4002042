package suitetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestUndecided(t *testing.T) {
	const scenario = `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: gadgets, labels: {system: gadgets}}
spec:
  description: Gadgets work.
  covers: [%s]
  cluster: {version: "1.36"}
  steps:
  - name: first
    covers: [G-1]
    eventually: {apiVersion: v1, kind: Namespace, name: default}
  - name: second
    eventually: {apiVersion: v1, kind: Namespace, name: default}
`
	for covers, want := range map[string][]string{
		"G-1":      nil,
		"G-1, G-2": {"gadgets.yaml:2:1: gadgets: no step covers G-2, so every failed step without covers fails it"},
	} {
		set, err := scenarios.LoadBytes("gadgets.yaml", fmt.Appendf(nil, scenario, covers))
		if err != nil {
			t.Fatal(err)
		}
		if got := undecided(set.Scenarios); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", covers, got, want)
		}
	}
}
