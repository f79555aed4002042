package survey

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Only ReplicaSets have a condition that says that their Pods cannot be created. Others simply have none.
func TestWhyStuck(t *testing.T) {
	type object = map[string]any
	seen := func(status object) object { status["observedGeneration"] = int64(2); return status }
	started := func(status object) object { status["startTime"] = "2026-01-01T00:00:00Z"; return status }
	for _, test := range []struct {
		name, kind   string
		spec, status object
		want         bool
	}{
		{"no pod was created", "StatefulSet", object{"replicas": int64(3)}, seen(object{"replicas": int64(0)}), true},
		{"one of three exists", "StatefulSet", object{"replicas": int64(3)}, seen(object{"replicas": int64(1)}), false},
		{"it wants none", "StatefulSet", object{"replicas": int64(0)}, seen(object{}), false},
		{
			"no controller has seen it", "StatefulSet",
			object{"replicas": int64(3)},
			object{"observedGeneration": int64(1)},
			false,
		},
		{"no pod was created", "DaemonSet", object{}, seen(object{"desiredNumberScheduled": int64(2)}), true},
		{
			"a node has one", "DaemonSet",
			object{},
			seen(object{"desiredNumberScheduled": int64(2), "currentNumberScheduled": int64(1)}), false,
		},
		{"no node matches", "DaemonSet", object{}, seen(object{"desiredNumberScheduled": int64(0)}), false},
		{"no pod was created", "Job", object{}, started(object{}), true},
		{"it runs", "Job", object{}, started(object{"active": int64(1)}), false},
		{"it is suspended", "Job", object{"suspend": true}, started(object{}), false},
		{"it is not a matter of Kubernetes", "Job", object{"managedBy": "example.com/queue"}, started(object{}), false},
		{"it wants none", "Job", object{"parallelism": int64(0)}, started(object{}), false},
		{"no controller has seen it", "Job", object{}, object{}, false},
		{"its scheduler does not run", "Pod", object{"schedulerName": "other"}, object{"phase": "Pending"}, true},
		{
			"its scheduler runs", "Pod",
			object{"schedulerName": "other", "nodeName": "a"},
			object{"phase": "Pending"},
			false,
		},
		{"it is new", "Pod", object{"schedulerName": "default-scheduler"}, object{"phase": "Pending"}, false},
		{
			"it is gated", "Pod",
			object{},
			object{"phase": "Pending", "conditions": []any{object{
				"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
			}}},
			true,
		},
		{"its volume is missing", "PersistentVolumeClaim", object{}, object{"phase": "Lost"}, true},
		{"it is bound", "PersistentVolumeClaim", object{}, object{"phase": "Bound"}, false},
		{
			"it failed without a pod", "Job",
			object{},
			started(object{"conditions": []any{object{"type": "Failed", "status": "True"}}}), false,
		},
	} {
		o := &unstructured.Unstructured{Object: object{
			"kind": test.kind, "metadata": object{"generation": int64(2)}, "spec": test.spec, "status": test.status,
		}}
		if got := standingOf(o).alone(); (got.Answer == Bad) != test.want {
			t.Errorf("%s, %s: %+v", test.kind, test.name, got)
		}
	}
}
