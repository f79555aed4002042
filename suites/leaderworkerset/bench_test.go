package leaderworkerset_test

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

const fiftyReplicas = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: fifty-replicas}
spec:
  timeout: 5m
  cases: [{name: one at a time, gate: false, unavailable: 1}, {name: ten at a time, gate: true, unavailable: 10}]
  cluster:
    version: "1.36"
    featureGates: {MaxUnavailableStatefulSet: "${case.gate}"}
    nodes: [{count: 5}]
    systems: [{name: lws, simulated: {simulator: leaderworkerset}}]
  steps:
  - create:
      apiVersion: leaderworkerset.x-k8s.io/v1
      kind: LeaderWorkerSet
      metadata: {name: my-lws}
      spec:
        replicas: 50
        rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxUnavailable: "${case.unavailable}", maxSurge: 0}}
        leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {containers: [{name: main, image: main}]}}}
  - eventually: {apiVersion: v1, kind: Pod, match: {spec: {subdomain: my-lws}, status: {conditions: [{type: Ready, status: "True"}]}}, count: 200}
  - name: to UniquePerReplica
    patch:
      apiVersion: leaderworkerset.x-k8s.io/v1
      kind: LeaderWorkerSet
      name: my-lws
      merge: {spec: {networkConfig: {subdomainPolicy: UniquePerReplica}}}
  - name: all are
    eventually:
      apiVersion: v1
      kind: Pod
      match: {status: {conditions: [{type: Ready, status: "True"}]}}
      cel: object.spec.subdomain == 'my-lws-' + object.metadata.labels['leaderworkerset.sigs.k8s.io/group-index'] && !has(object.metadata.deletionTimestamp)
      count: 200
  - name: R+1 Services
    eventually: {apiVersion: v1, kind: Service, count: 51}
  - name: the shared one at every moment
    unchanged: {apiVersion: v1, kind: Service, name: my-lws, paths: [metadata.uid], throughout: [to UniquePerReplica, the shared one at every moment]}
`

// Fifty replicas of four pods change from Shared to UniquePerReplica, one replica at a time and ten at a time.
func BenchmarkTransitionOfFiftyReplicas(b *testing.B) {
	set, err := scenarios.LoadBytes("fifty.yaml", []byte(fiftyReplicas))
	golden.Must(b, err)
	for b.Loop() {
		plan, err := harness.NewPlan(b.Context(), suite().Provider(b), set.Scenarios, suite().Options(b))
		golden.Must(b, err)
		recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
		if err := harness.Execute(b.Context(), plan, harness.Options{
			Recorder:  recorder,
			ReportDir: b.TempDir(),
		}); err != nil {
			b.Fatal(err)
		}
		for _, track := range recorder.Run().Tracks {
			s := track.Scenarios[0]
			if s.Status != reports.Passed {
				b.Fatal(reports.Explain(s))
			}
			_, row, _ := strings.Cut(s.Name, " [")
			unit := "s/" + strings.ReplaceAll(strings.TrimSuffix(row, "]"), " ", "-")
			b.ReportMetric(s.Steps[4].Finished.Sub(s.Steps[2].Started).Seconds(), unit)
		}
	}
}
