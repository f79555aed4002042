package history

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// value draws a JSON value, including nulls and numbers that a merge patch or a text could lose.
func value(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text")
	case 2:
		return rapid.SampledFrom([]int64{0, 1, 1 << 60}).Draw(t, "number")
	case 3:
		return rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(t, "float")
	case 4:
		return rapid.Bool().Draw(t, "bool")
	case 5:
		list := make([]any, rapid.IntRange(0, 2).Draw(t, "length"))
		for i := range list {
			list[i] = value(t, depth-1)
		}
		return list
	}
	return drawn(t, depth)
}

func drawn(t *rapid.T, depth int) map[string]any {
	m := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, key) {
			m[key] = value(t, depth-1)
		}
	}
	return m
}

func TestPatchLeadsFromOneToTheOther(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := drawn(rt, 3), drawn(rt, 3)
		before := (&unstructured.Unstructured{Object: from}).DeepCopy().Object
		patch, exact := Patch(from, to)
		if !exact {
			if !holdsNull(to) {
				rt.Fatalf("not exact without a null: %v to %v", from, to)
			}
			return
		}
		if got := merged(from, patch); !reflect.DeepEqual(got, to) {
			rt.Fatalf("%v and %v is %v, want %v", from, patch, got, to)
		}
		if !reflect.DeepEqual(from, before) {
			rt.Fatalf("%v was changed to %v", before, from)
		}
	})
}

// Packed states read as they came, and the dropped states are counted.
func TestPackedStatesReadAsTheyCame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bound := rapid.SampledFrom([]int64{0, 200, 1000, 10_000, 1 << 20}).Draw(rt, "bound")
		r := unconnected(rt, WithMaxBytes(bound))
		s := newStream(r, schema.GroupVersionResource{Version: "v1", Resource: "pods"})
		s.replace(nil, "1", false)
		came := map[int64]any{}
		for i := range rapid.IntRange(1, 100).Draw(rt, "changes") {
			o := &unstructured.Unstructured{Object: map[string]any{"spec": drawn(rt, 2)}}
			o.SetName(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name"))
			o.SetUID("1")
			o.SetResourceVersion(fmt.Sprint(i + 2))
			before := r.Seq()
			s.tell(o.DeepCopy(), rapid.IntRange(0, 9).Draw(rt, "end") == 0)
			if r.Seq() != before {
				came[r.Seq()] = o.Object
			}
		}
		lost := int64(0)
		for change := range s.Replay(0, r.Seq(), Scope{}) {
			if change.Object == nil {
				lost++
			} else if !reflect.DeepEqual(came[change.Seq], change.Object.Object) {
				rt.Fatalf("state %d is %v, want %v", change.Seq, change.Object.Object, came[change.Seq])
			}
			if change.Type == Added && change.Before != nil {
				rt.Fatalf("state %d was added and had one before", change.Seq)
			}
		}
		if lost != r.Dropped() {
			rt.Fatalf("%d states are lost, %d are said to be dropped", lost, r.Dropped())
		}
		if packed := r.retained.bytes; packed > bound {
			rt.Fatalf("%d bytes are kept, want at most %d", packed, bound)
		}
	})
}

func TestObjectsAtAnEarlierTime(t *testing.T) {
	s, _ := listed(t)
	s.tell(object("a", "1", "11"), false)
	s.tell(object("b", "2", "12"), false)
	s.tell(object("a", "1", "13"), false)
	s.tell(object("b", "2", "14"), true)
	for seq, want := range []string{"[]", "[a@11]", "[a@11 b@12]", "[a@13 b@12]", "[a@13]"} {
		objects, dropped := s.At(int64(seq), Scope{})
		got := []string{}
		for _, o := range objects {
			got = append(got, o.GetName()+"@"+o.GetResourceVersion())
		}
		if fmt.Sprint(got) != want || dropped != 0 {
			t.Errorf("after change %d there are %v (%d dropped), want %s", seq, got, dropped, want)
		}
	}
	unbounded := s.recorder.retained
	s.recorder.retained = retention{}
	s.tell(object("a", "1", "15"), false)
	s.recorder.retained = unbounded
	if objects, dropped := s.At(5, Scope{}); len(objects) != 1 || dropped != 0 {
		t.Errorf("%v, %d dropped; the newest state is always there", objects, dropped)
	}
	if _, dropped := s.At(3, Scope{Name: "a"}); dropped != 1 {
		t.Errorf("%d dropped, want to hear of the one", dropped)
	}
}

// podOf returns a pod as large as that of a StatefulSet on a simulated node.
func podOf(i, change int) *unstructured.Unstructured {
	name := fmt.Sprintf("web-%d", i)
	condition := func(kind string) any {
		return map[string]any{
			"type": kind, "status": "True", "lastProbeTime": nil,
			"lastTransitionTime": fmt.Sprintf("2026-01-02T03:04:%02dZ", change),
		}
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": name, "namespace": "many", "generateName": "web-", "creationTimestamp": "2026-01-02T03:04:05Z",
			"labels": map[string]any{
				"app": "web", "apps.kubernetes.io/pod-index": fmt.Sprint(i),
				"controller-revision-hash": "web-6d4cf56db6", "statefulset.kubernetes.io/pod-name": name,
			},
			"annotations": map[string]any{"example.com/a": "some value or other", "example.com/b": "another"},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "0b8f0c3a-16f3-4b5e-9d2a-7c4f5a6b7c8d",
				"controller": true, "blockOwnerDeletion": true,
			}},
		},
		"spec": map[string]any{
			"containers": []any{map[string]any{
				"name": "main", "image": "registry.k8s.io/pause:3.10", "imagePullPolicy": "IfNotPresent",
				"resources": map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "64Mi"}},
				"env": []any{
					map[string]any{"name": "A", "value": "1"},
					map[string]any{"name": "B", "value": "2"},
				},
				"volumeMounts": []any{map[string]any{
					"name":      "kube-api-access-x7k2p",
					"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true,
				}},
				"terminationMessagePath":   "/dev/termination-log",
				"terminationMessagePolicy": "File",
			}},
			"volumes": []any{map[string]any{
				"name": "kube-api-access-x7k2p",
				"projected": map[string]any{"defaultMode": int64(420), "sources": []any{
					map[string]any{"serviceAccountToken": map[string]any{"expirationSeconds": int64(3607), "path": "token"}},
					map[string]any{"configMap": map[string]any{
						"name":  "kube-root-ca.crt",
						"items": []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}},
					}},
				}},
			}},
			"tolerations": []any{
				map[string]any{
					"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
					"tolerationSeconds": int64(300),
				},
				map[string]any{
					"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
					"tolerationSeconds": int64(300),
				},
			},
			"hostname": name, "subdomain": "web", "nodeName": fmt.Sprintf("node-%d", i%100), "restartPolicy": "Always",
			"schedulerName":  "default-scheduler",
			"serviceAccount": "default", "serviceAccountName": "default", "terminationGracePeriodSeconds": int64(30),
			"dnsPolicy":          "ClusterFirst",
			"enableServiceLinks": true, "preemptionPolicy": "PreemptLowerPriority", "priority": int64(0),
			"securityContext": map[string]any{},
		},
		"status": map[string]any{
			"phase": "Running", "hostIP": "10.0.0.1", "podIP": fmt.Sprintf("10.1.%d.%d", i/250, i%250), "qosClass": "Burstable",
			"startTime": "2026-01-02T03:04:05Z",
			"conditions": []any{
				condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"),
				condition("ContainersReady"), condition("PodScheduled"),
			},
			"containerStatuses": []any{map[string]any{
				"name": "main", "image": "registry.k8s.io/pause:3.10", "imageID": "", "ready": true, "started": true,
				"restartCount": int64(change),
				"state":        map[string]any{"running": map[string]any{"startedAt": "2026-01-02T03:04:05Z"}},
				"lastState":    map[string]any{},
			}},
		},
	}}
	o.SetUID(types.UID(fmt.Sprintf("5e1c2f7a-0d3b-4c6d-8e9f-%012d", i)))
	o.SetResourceVersion(fmt.Sprint(100 + change*10_000 + i))
	return o
}

// asItComes returns the value as a client decodes it: it shares nothing with other values.
func asItComes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		came := map[string]any{}
		for key, value := range v {
			came[strings.Clone(key)] = asItComes(value)
		}
		return came
	case []any:
		came := make([]any, len(v))
		for i, item := range v {
			came[i] = asItComes(item)
		}
		return came
	case string:
		return strings.Clone(v)
	}
	return v
}

// 10,000 pods that change ten times fit in 500 MB without a dropped state; with -short, 2,000 pods in 150 MB.
func TestMemory(t *testing.T) {
	const changes = 10
	objects, limit := 10_000, uint64(500)
	if testing.Short() {
		objects, limit = 2_000, 150
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the default, whatever GC percentage the tests run with
	s, _ := listed(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for change := range changes + 1 {
		for i := range objects {
			came := asItComes(podOf(i, change).Object).(map[string]any)
			s.tell(&unstructured.Unstructured{Object: came}, false)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	live, taken := (after.HeapAlloc-before.HeapAlloc)>>20, (after.Sys-before.Sys)>>20
	t.Logf("%d MB live, %d MB taken from the system, %d MB of older states", live, taken, s.recorder.retained.bytes>>20)
	if taken > limit {
		t.Errorf("%d MB were taken, want at most %d", taken, limit)
	}
	if n := s.recorder.Dropped(); n != 0 {
		t.Errorf("%d states were dropped", n)
	}
	n := 0
	for change := range s.Replay(0, s.recorder.Seq(), Scope{}) {
		if n++; n%10 != 1 {
			continue
		}
		want := podOf((n-1)%objects, (n-1)/objects)
		if change.Object == nil || !maps.Equal(change.Object.GetLabels(), want.GetLabels()) ||
			!equal(want.Object, change.Object.Object) {
			t.Fatalf("change %d reads %v", n, change.Object)
		}
	}
	if n != objects*(changes+1) {
		t.Errorf("%d changes, want %d", n, objects*(changes+1))
	}
}
