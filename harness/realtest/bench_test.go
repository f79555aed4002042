package realtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// BenchmarkVerdictLatency measures the time from sending a write to the verdict that it causes, and from the event.
func BenchmarkVerdictLatency(b *testing.B) {
	const rounds = 200
	cluster := bare(b)
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	golden.Must(b, err)
	recorder, err := history.New(cluster.RESTConfig())
	golden.Must(b, err)
	defer recorder.Close()
	stream := recorder.Stream(configMaps)
	api := client.Resource(configMaps).Namespace("default")
	for b.Loop() {
		var fromSending, fromEvent []time.Duration
		for i := range rounds {
			name := fmt.Sprintf("latency-%d", i)
			scope := history.Scope{Namespace: "default", Name: name}
			// After this, the assertion below finds nothing in its first check, and waits.
			golden.Must(b, stream.CatchUp(b.Context(), scope))
			verdict := make(chan assertions.Result, 1)
			go func() {
				verdict <- assertions.Eventually(b.Context(), assertions.Input{
					Assertion: scenarios.Assertion{}, Stream: stream,
					Scope: scope,
				})
			}()
			time.Sleep(5 * time.Millisecond) // a benchmark: the assertion's own first check must be over
			sent := time.Now()
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": name},
			}}
			if _, err := api.Create(b.Context(), object, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
			result := <-verdict
			if result.Status != reports.Passed {
				b.Fatal(result.Message)
			}
			fromSending = append(fromSending, result.DecidedAt.Sub(sent))
			if !result.EventAt.IsZero() {
				fromEvent = append(fromEvent, result.DecidedAt.Sub(result.EventAt))
			}
			golden.Must(b, api.Delete(b.Context(), name, metav1.DeleteOptions{}))
		}
		b.ReportMetric(milliseconds(fromSending, 50), "ms/write-to-verdict-p50")
		b.ReportMetric(milliseconds(fromSending, 99), "ms/write-to-verdict-p99")
		b.ReportMetric(milliseconds(fromEvent, 50), "ms/event-to-verdict-p50")
		b.ReportMetric(milliseconds(fromEvent, 99), "ms/event-to-verdict-p99")
	}
}

func milliseconds(all []time.Duration, percentile int) float64 {
	if len(all) == 0 {
		return -1
	}
	slices.Sort(all)
	return float64(all[min(len(all)-1, len(all)*percentile/100)].Microseconds()) / 1000
}

// bare returns a cluster for one benchmark.
func bare(b testing.TB) clusters.Cluster {
	b.Helper()
	p := clustertest.Local(b)
	state, err := p.Resolve(b.Context(), clusters.State{Version: "1.35"})
	golden.Must(b, err)
	cluster, err := p.Create(b.Context(), "bench", state)
	golden.Must(b, err)
	b.Cleanup(func() {
		if err := cluster.Delete(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	return cluster
}

const plain = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: plain-%d}
spec:
  cluster: {version: "1.35"}
  steps:
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, match: {data: {k: v}}}
  - create: {apiVersion: v1, kind: Service, metadata: {name: 9-web}, spec: {ports: [{port: 80}]}}
    expect: {rejected: {code: 422, field: metadata.name}}
  - patch: {apiVersion: v1, kind: ConfigMap, name: a, merge: {data: {k: w}}}
  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, cel: object.data.k == "w"}
`

// BenchmarkHundredScenarios compares 100 scenarios on one cluster with one: time, and memory of the harness.
func BenchmarkHundredScenarios(b *testing.B) {
	text := func(n int) string {
		var documents []string
		for i := range n {
			documents = append(documents, fmt.Sprintf(plain, i))
		}
		return strings.Join(documents, "---\n")
	}
	timed := func(n int) time.Duration {
		began := time.Now()
		result := run(b, clustertest.Local(b), text(n))
		if code := reports.ExitCode(result); code != reports.ExitPassed {
			b.Fatal(explain(result))
		}
		return time.Since(began)
	}
	for b.Loop() {
		one, hundred := timed(1), timed(100)
		b.ReportMetric(one.Seconds(), "s/one")
		b.ReportMetric(hundred.Seconds(), "s/hundred")
		b.ReportMetric(hundred.Seconds()/one.Seconds(), "hundred/one")
		b.ReportMetric(peakMemory(b), "MB/peak-of-harness")
	}
}

// peakMemory returns the most memory that this process has used, in MB.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	data := []byte(golden.Read(b, "/proc/self/status"))
	var kilobytes float64
	_, after, found := bytes.Cut(data, []byte("VmHWM:"))
	if !found {
		b.Fatal("no VmHWM in /proc/self/status")
	}
	if _, err := fmt.Sscan(string(after), &kilobytes); err != nil {
		b.Fatal(err)
	}
	return kilobytes / 1024
}

// BenchmarkRehearsal measures the whole rehearsal of KEP-5311: create, upgrade, roll back, upgrade.
func BenchmarkRehearsal(b *testing.B) {
	text := golden.Read(b, "../../scenarios/kubernetes/service-name-rollback.yaml")
	for b.Loop() {
		began := time.Now()
		if result := run(b, clustertest.Local(b), text); reports.ExitCode(result) != reports.ExitPassed {
			b.Fatal(explain(result))
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/rehearsal")
	}
}
