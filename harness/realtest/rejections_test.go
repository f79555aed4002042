package realtest

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// The answers of real API servers show who rejects, for each class and version. Every kind of write can be rejected,
// and then stores nothing. A policy is in force when its first rejection is expected.
func TestRejections(t *testing.T) {
	text := golden.Read(t, "testdata/rejections.yaml")
	result := run(t, clustertest.Local(t), text)
	if reports.ExitCode(result) != reports.ExitPassed {
		t.Error(explain(result))
	}
}

// The report names the alternative that was met.
func TestReportSaysWhichAlternativeWasMet(t *testing.T) {
	result := run(t, clustertest.Local(t), `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: two-answers}
spec:
  cluster: {version: "1.36"}
  steps:
  - create: &service {apiVersion: v1, kind: Service, metadata: {name: 9_web}, spec: {ports: [{port: 80}]}}
    expect: {rejected: {anyOf: [{by: webhook}, {by: schema, field: metadata.name}]}}
  - create: *service
    expect: {rejected: {anyOf: [{by: webhook}, {by: schema, field: spec.ports}]}}
`)
	steps := result.Tracks[0].Scenarios[0].Steps
	if steps[0].Status != reports.Passed || !strings.Contains(steps[0].Evidence,
		"met: alternative 2 of 2 (by schema, field metadata.name)") {
		t.Errorf("got %s: %s%s", steps[0].Status, steps[0].Evidence, steps[0].Message)
	}
	for _, words := range []string{
		"alternative 1 of 2 (by webhook):", "alternative 2 of 2 (by schema, field spec.ports):",
		"got  metadata.name",
	} {
		if steps[1].Status != reports.Failed || !strings.Contains(steps[1].Message, words) {
			t.Errorf("got %s without %q: %s", steps[1].Status, words, steps[1].Message)
		}
	}
}
