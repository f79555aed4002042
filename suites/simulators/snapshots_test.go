package simulators_test

import (
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// twice is a scenario on two clusters with the same initial state: the system serves, applies its rule, and is removed
// with everything that was created for it.
const twice = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: "the-same-${case.round}"}
spec:
  exclusive: true
  cases: [{round: first}, {round: second}]
  cluster: {version: "1.36", nodes: [{count: 2}], systems: [{name: widgets, simulated: {}}]}
  steps:
  - create: {apiVersion: test.rehearse.dev/v1, kind: Widget, metadata: {name: bad}}
    expect: {rejected: {code: 403, message: bad}}
  - create: {apiVersion: test.rehearse.dev/v1, kind: Widget, metadata: {name: good}}
  - create: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: main}]}}
  - eventually: {apiVersion: v1, kind: Pod, name: web, match: {status: {phase: Running}}}
  - delete: {apiVersion: test.rehearse.dev/v1, kind: Widget, name: good}
  - name: without the system
    transition: {systems: [{name: widgets, remove: true}]}
  - eventually: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: widgets.test.rehearse.dev, absent: true}
  - eventually: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, name: widgets, absent: true}
`

// A scenario also passes on a cluster that starts from a snapshot of another cluster's initial state.
func TestVerdictsFromASnapshot(t *testing.T) {
	set, err := scenarios.LoadBytes("twice.yaml", []byte(twice))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Snapshots = true
	run := ran(t, clustertest.Local(t), set, o)
	var begins []string
	for _, track := range run.Tracks {
		begins = append(begins, track.Setup[0].Evidence)
		for _, s := range track.Scenarios {
			if s.Status != reports.Passed {
				t.Errorf("%s: %s", s.Name, reports.Explain(s))
			}
		}
		for _, step := range track.Setup {
			t.Logf("%s %s: %s %s %v", step.Verb, step.Name, step.Status, step.Message, step.Duration())
		}
	}
	if want := []string{"", "from the snapshot of track-1"}; !slices.Equal(begins, want) {
		t.Errorf("the clusters begin with %q, want %q", begins, want)
	}
}
