package assertions

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestWhyPodsDoNotRun(t *testing.T) {
	deployment := objectOf(t, "apps/v1 Deployment", "metadata: {name: web, namespace: x, uid: d}\nspec: {selector: "+
		"{matchLabels: {app: web}}}")
	custom := objectOf(t, "example.com/v1 Thing", "metadata: {name: web, namespace: x, uid: c}")
	unscheduled := objectOf(t, "v1 Pod", "metadata: {name: web-1, namespace: x, uid: p, labels: {app: web}}\nstatus: "+
		"{phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: '0/1 nodes are available: 1 "+
		"Insufficient cpu.'}]}")
	unseen := objectOf(t, "v1 Pod", "metadata: {name: web-2, namespace: x, labels: {app: web}}\nstatus: {phase: Pending}")
	started := objectOf(t, "v1 Pod", "metadata: {name: web-3, namespace: x, labels: {app: web}}\nspec: {nodeName: "+
		"node-0}\nstatus: {phase: Pending, containerStatuses: [{name: main, state: {waiting: {reason: ErrImagePull, "+
		"message: no such image}}}]}")
	runs := objectOf(t, "v1 Pod", "metadata: {name: web-4, namespace: x, labels: {app: web}}\nspec: {nodeName: "+
		"node-0}\nstatus: {phase: Running}")
	foreign := objectOf(t, "v1 Pod", "metadata: {name: db-1, namespace: x, uid: o, labels: {app: db}}\nstatus: {phase: "+
		"Pending}")
	for _, tt := range []struct {
		name  string
		of    *unstructured.Unstructured
		pods  []*unstructured.Unstructured
		nodes int
		err   error
		want  string
	}{
		{
			"no nodes", deployment,
			[]*unstructured.Unstructured{unscheduled, foreign},
			0, nil,
			`The cluster has no nodes, so its pods stay Pending: add "nodes: [{count: 1}]" to the scenario's cluster.`,
		},
		{"no nodes, and none waits", deployment, []*unstructured.Unstructured{foreign}, 0, nil, ""},
		{
			"by labels", deployment,
			[]*unstructured.Unstructured{unscheduled, unseen, started, runs, foreign},
			1, nil,
			"Pod web-1 is Pending: 0/1 nodes are available: 1 Insufficient cpu.\nPod web-2 is Pending: no scheduler has " +
				"looked at it\nPod web-3 is Pending: container main waits: ErrImagePull: no such image\n",
		},
		{
			"by name", custom,
			[]*unstructured.Unstructured{unseen, foreign},
			1, nil,
			"Pod web-2 is Pending: no scheduler has looked at it\n",
		},
		{
			"the pod itself", unscheduled,
			[]*unstructured.Unstructured{unscheduled, unseen},
			1, nil,
			"Pod web-1 is Pending: 0/1 nodes are available: 1 Insufficient cpu.\n",
		},
		{"not known", deployment, nil, 0, errors.New("forbidden"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWatcher(Input{Pods: func(context.Context, string) ([]*unstructured.Unstructured, int, error) {
				return tt.pods, tt.nodes, tt.err
			}}, "eventually")
			if got := w.pending(t.Context(), tt.of); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestWhatBecameOfAnObjectThatIsMissed(t *testing.T) {
	f := newFixture(t)
	f.put("web")
	f.put("old")
	f.observe()
	steps := []Step{{"create web", 0}, {"roll back", f.recorder.Seq()}}
	f.delete("old")
	f.clock.Step(time.Second)
	owned := service("x", "web", "status", map[string]any{"conditions": []any{
		map[string]any{
			"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
			"message": "Eviction API: evicting",
		},
	}})
	owned["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "ReplicaSet", "name": "web-5d", "uid": "u", "controller": true,
	}}
	owned["metadata"].(map[string]any)["deletionTimestamp"] = "2024-01-02T03:04:05Z"
	f.server.Put(services.Resource, owned)
	f.settle()
	f.clock.Step(time.Second)
	f.delete("web")
	w := newWatcher(Input{
		Stream: f.stream, Scope: history.Scope{Namespace: "x"}, Started: f.clock.Now(), Clock: f.clock,
		Steps: steps, Assertion: scenarios.Assertion{},
	}, "eventually")
	w.seq = f.recorder.Seq()
	matchesFile(t, "gone", w.gone())
}
