package realtest

import (
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

const thousandPods = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: thousand-pods}
spec:
  timeout: 10m
  cluster: {version: "1.35", nodes: [{count: 10, capacity: {cpu: "1000", memory: 1Ti, pods: "500"}}]}
  steps:
  - create:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1000
        selector: {matchLabels: {app: web}}
        strategy: {rollingUpdate: {maxSurge: 100, maxUnavailable: 100}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: main, image: "web:1"}]}
  - eventually: {apiVersion: apps/v1, kind: Deployment, name: web, match: {status: {availableReplicas: 1000}}}
  - name: roll
    patch:
      apiVersion: apps/v1
      kind: Deployment
      name: web
      strategic: {spec: {template: {spec: {containers: [{name: main, image: "web:2"}]}}}}
  - name: rolled
    eventually:
      apiVersion: v1
      kind: Pod
      selector: {app: web}
      match: {spec: {containers: [{name: main, image: "web:2"}]}, status: {conditions: [{type: Ready, status: "True"}]}}
      count: 1000
  - name: the old ones are gone
    eventually: {apiVersion: v1, kind: Pod, selector: {app: web}, match: {spec: {containers: [{name: main, image: "web:1"}]}}, absent: true}
  - name: as few as there may be
    always:
      apiVersion: v1
      kind: Pod
      selector: {app: web}
      match: {status: {conditions: [{type: Ready, status: "True"}]}}
      count: {min: 900}
      throughout: [roll, the old ones are gone]
`

// meter measures what this process, the harness, uses between the starts of two steps. The cluster's programs are
// separate processes.
type meter struct {
	first, last string
	began       time.Time
	cpu         time.Duration
	// took is the time between the two starts, share the CPU use in percent of a core.
	took  time.Duration
	share float64
}

// Observe implements reports.Observer.
func (m *meter) Observe(e reports.Event) error {
	if e.Kind != reports.StepStarted || e.Step.Name != m.first && e.Step.Name != m.last {
		return nil
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if e.Step.Name == m.first {
		m.began, m.cpu = e.At, cpu
		return nil
	}
	m.took = e.At.Sub(m.began)
	m.share = 100 * (cpu - m.cpu).Seconds() / m.took.Seconds()
	return nil
}

// BenchmarkHistoryOfThousandPods measures the CPU and memory of recording every change while 1,000 pods are replaced.
func BenchmarkHistoryOfThousandPods(b *testing.B) {
	for b.Loop() {
		m := &meter{first: "roll", last: "as few as there may be"}
		if result := run(b, clustertest.Local(b), thousandPods, m); reports.ExitCode(result) != reports.ExitPassed {
			b.Fatal(explain(result))
		}
		b.ReportMetric(m.took.Seconds(), "s/rolling")
		b.ReportMetric(m.share, "%-of-a-core")
		b.ReportMetric(peakMemory(b), "MB/peak-of-harness")
	}
}
