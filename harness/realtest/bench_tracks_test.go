package realtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

const upAndDown = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: up-and-down-%d}
spec:
  cluster: {version: "1.34"}
  steps:
  - name: a
    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}
  - name: up
    transition: {version: "1.35"}
  - patch: {apiVersion: v1, kind: ConfigMap, name: a, merge: {data: {k: w}}}
  - name: down
    transition: {version: "1.34"}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, match: {data: {k: w}}}
  - always: {apiVersion: v1, kind: ConfigMap, name: a, throughout: [up, down]}
  - unchanged: {apiVersion: v1, kind: ConfigMap, name: a, paths: [metadata.uid], throughout: [up, down]}
`

// BenchmarkHundredOnOnePath compares a hundred scenarios with one on the same path: they share one track.
func BenchmarkHundredOnOnePath(b *testing.B) {
	timed := func(n int) time.Duration {
		var documents []string
		for i := range n {
			documents = append(documents, fmt.Sprintf(upAndDown, i))
		}
		began := time.Now()
		result := run(b, clustertest.Local(b), strings.Join(documents, "---\n"))
		if code := reports.ExitCode(result); code != reports.ExitPassed {
			b.Fatal(explain(result))
		}
		if n := len(result.Tracks); n != 1 {
			b.Fatalf("%d tracks, want all on one", n)
		}
		return time.Since(began)
	}
	for b.Loop() {
		one, hundred := timed(1), timed(100)
		b.ReportMetric(one.Seconds(), "s/one")
		b.ReportMetric(hundred.Seconds(), "s/hundred")
		b.ReportMetric(hundred.Seconds()/one.Seconds(), "hundred/one")
	}
}
