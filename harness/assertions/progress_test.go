package assertions

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// objectOf reads an object of a kind, such as "apps/v1 Deployment", from the fields in a YAML text.
func objectOf(t *testing.T, kind, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	apiVersion, name, _ := strings.Cut(kind, " ")
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(strings.Replace(string(data), "{", `{"apiVersion":"`+apiVersion+`","kind":"`+
		name+`",`, 1))); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestProgress(t *testing.T) {
	const current = "metadata: {generation: 2}\n"
	for _, tt := range []struct {
		name, kind, object string
		// lacks is what is missing; "" if the object is rolled out.
		lacks string
	}{
		{"done", "apps/v1 Deployment", current + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, " +
			"updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}", ""},
		{
			"one replica by default", "apps/v1 Deployment", current + "spec: {}\nstatus: {observedGeneration: 2}",
			"0 of 1 updated, 0 of 1 ready",
		},
		{"none wanted", "apps/v1 Deployment", current + "spec: {replicas: 0}\nstatus: {observedGeneration: 2}", ""},
		{
			"not yet seen", "apps/v1 Deployment", current + "spec: {replicas: 0}\nstatus: {}",
			"the object is of generation 2, its controller has not written a status yet",
		},
		{
			"a status of before", "apps/v1 Deployment", current + "spec: {replicas: 1}\nstatus: {observedGeneration: 1, " +
				"replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}",
			"status is of generation 1, the object is at 2",
		},
		{"in between", "apps/v1 Deployment", current + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 4, " +
			"updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3}", "2 of 3 updated, 2 old ones left"},
		{"not ready", "apps/v1 Deployment", current + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, " +
			"updatedReplicas: 3, readyReplicas: 2, availableReplicas: 2}", "2 of 3 ready"},
		{"ready for too short", "apps/v1 Deployment", current + "spec: {replicas: 3}\nstatus: {observedGeneration: 2, " +
			"replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 1}", "1 of 3 available"},
		{"too many", "apps/v1 Deployment", current + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 3, " +
			"updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3}", "2 to be removed"},
		{"late", "apps/v1 Deployment", current + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 1, " +
			"updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Progressing, status: 'False', " +
			"reason: ProgressDeadlineExceeded, message: stuck}]}", "it exceeded its progress deadline: stuck"},
		{"paused", "apps/v1 Deployment", current + "spec: {replicas: 1, paused: true}\nstatus: {observedGeneration: 2, " +
			"replicas: 1, readyReplicas: 1, availableReplicas: 1}", "0 of 1 updated, 1 old ones left, it is paused"},
		{
			"no quota", "apps/v1 Deployment", current + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, conditions: " +
				"[{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: exceeded quota}]}",
			"0 of 1 updated, 0 of 1 ready, ReplicaFailure is True (FailedCreate: exceeded quota)",
		},
		{"deleted", "apps/v1 Deployment", "metadata: {generation: 2, deletionTimestamp: '2024-01-02T03:04:05Z'}\nspec: " +
			"{replicas: 0}\nstatus: {observedGeneration: 2}", "it is being deleted"},

		{"done", "apps/v1 StatefulSet", current + "spec: {replicas: 2, updateStrategy: {type: RollingUpdate, " +
			"rollingUpdate: {partition: 0}}}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, " +
			"readyReplicas: 2, availableReplicas: 2}", ""},
		{"partition", "apps/v1 StatefulSet", current + "spec: {replicas: 3, updateStrategy: {type: RollingUpdate, " +
			"rollingUpdate: {partition: 2}}}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, " +
			"readyReplicas: 3, availableReplicas: 3}", ""},
		{"above the partition", "apps/v1 StatefulSet", current + "spec: {replicas: 3, updateStrategy: {type: " +
			"RollingUpdate, rollingUpdate: {partition: 1}}}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: " +
			"1, readyReplicas: 3, availableReplicas: 3}", "1 of 2 updated (partition 1)"},
		{
			"a partition beyond all", "apps/v1 StatefulSet",
			current + "spec: {replicas: 1, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 5}}}\nstatus: " +
				"{observedGeneration: 2, replicas: 1, readyReplicas: 1, availableReplicas: 1}", "",
		},
		{
			"on delete", "apps/v1 StatefulSet", current + "spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: " +
				"{observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2}",
			"1 of 2 updated (OnDelete: by deleting the old pods)",
		},
		{"scaled down", "apps/v1 StatefulSet", current + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: " +
			"2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}", "1 to be removed"},

		{"done", "apps/v1 DaemonSet", current + "status: {observedGeneration: 2, desiredNumberScheduled: 2, " +
			"updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2}", ""},
		{"old", "apps/v1 DaemonSet", current + "status: {observedGeneration: 2, desiredNumberScheduled: 2, " +
			"updatedNumberScheduled: 1, numberReady: 2, numberAvailable: 2}", "1 of 2 updated"},
		{
			"no node", "apps/v1 DaemonSet", current + "status: {observedGeneration: 2, desiredNumberScheduled: 0}",
			"no node accepts its pods",
		},

		{"done", "apps/v1 ReplicaSet", current + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 1, " +
			"readyReplicas: 1, availableReplicas: 1}", ""},
		{"one missing", "v1 ReplicationController", current + "spec: {replicas: 2}\nstatus: {observedGeneration: 2, " +
			"replicas: 1, readyReplicas: 1, availableReplicas: 1}", "1 of 2 ready"},

		{"complete", "batch/v1 Job", "spec: {completions: 2}\nstatus: {succeeded: 2, conditions: [{type: Complete, " +
			"status: 'True'}]}", ""},
		{
			"half of it", "batch/v1 Job", "spec: {completions: 2}\nstatus: {succeeded: 1, failed: 1}",
			"1 of 2 succeeded, 1 failed",
		},
		{"failed", "batch/v1 Job", "spec: {}\nstatus: {conditions: [{type: Failed, status: 'True', reason: " +
			"BackoffLimitExceeded}]}", "0 of 1 succeeded, Failed is True (BackoffLimitExceeded)"},

		{"ready", "example.com/v1 Thing", current + "status: {observedGeneration: 2, conditions: [{type: Ready, status: " +
			"'True'}]}", ""},
		{"ready before", "example.com/v1 Thing", current + "status: {observedGeneration: 1, conditions: [{type: Ready, " +
			"status: 'True'}]}", "status is of generation 1, the object is at 2"},
		{
			"a condition of before", "example.com/v1 Thing",
			current + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}",
			"condition Ready is of generation 1, the object is at 2",
		},
		{"not ready", "example.com/v1 Thing", current + "status: {conditions: [{type: Ready, status: 'False', reason: " +
			"NoQuota, message: nothing left}]}", "Ready is False (NoQuota: nothing left)"},
		{
			"available, still going on", "example.com/v1 Thing",
			current + "status: {conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True'}]}",
			"Progressing is True",
		},
		{
			"done as a Deployment says it", "example.com/v1 Thing",
			current + "status: {conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: " +
				"NewReplicaSetAvailable}]}", "",
		},
		{"stalled", "example.com/v1 Thing", current + "status: {conditions: [{type: Ready, status: 'True'}, {type: " +
			"Stalled, status: 'True', message: gave up}]}", "Stalled is True (gave up)"},
		{"reconciled", "example.com/v1 Thing", current + "status: {conditions: [{type: Reconciling, status: 'False'}]}", ""},
		{"nothing that tells", "example.com/v1 Thing", current + "status: {observedGeneration: 2, conditions: [{type: " +
			"Stalled, status: 'False'}]}", "it has none of the conditions Ready, Available and Reconciling"},
		{"no status", "example.com/v1 Thing", current, "it has none of the conditions Ready, Available and Reconciling"},
		{"a node", "v1 Node", "status: {conditions: [{type: Ready, status: 'True'}]}", ""},
	} {
		t.Run(tt.kind+" "+tt.name, func(t *testing.T) {
			p := progressOf(objectOf(t, tt.kind, tt.object))
			if got := strings.Join(p.lacks, ", "); got != tt.lacks || p.done() != (tt.lacks == "") {
				t.Errorf("done: %v, lacks %q; want %q", p.done(), got, tt.lacks)
			}
		})
	}
}

func TestWhatCanRollOut(t *testing.T) {
	for _, tt := range []struct {
		kind string
		want bool
	}{
		{"apps/v1 Deployment", true},
		{"batch/v1 Job", true},
		{"v1 Pod", true},
		{"v1 Service", true}, // its status has conditions
		{"example.com/v1 Thing", true},
		{"v1 ConfigMap", false},
		{"apps/v1 ControllerRevision", false},
		{"storage.k8s.io/v1 StorageClass", false},
	} {
		apiVersion, kind, _ := strings.Cut(tt.kind, " ")
		if got := canRollOut(schema.FromAPIVersionAndKind(apiVersion, kind)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.kind, got, tt.want)
		}
	}
}
