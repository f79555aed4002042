package survey

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/inventory"
)

// A finding about restarted pods counts the objects that own them. If the cause is known, it has a link to the issue.
func TestPodsRestart(t *testing.T) {
	moved := Outcome{Answer: Bad, Words: "2 of its 2 pods were deleted", Class: podsMoved}
	for _, test := range []struct{ target, flip, what, cause string }{
		{"1.34.0", "", "every StatefulSet's pods restart without any write", "134773"},
		{"1.34.4", "", "every StatefulSet's pods restart without any write", ""},
		{
			"1.34.4", "StatefulSetSemanticRevisionComparison is set: default -> false",
			"every StatefulSet's pods restart without any write", "134773",
		},
	} {
		s := &Survey{answers: answers{series: map[key]*Series{}}}
		set := given("a")
		set.GVK = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
		s.targets = []*Target{set}
		s.note(set, Moved, Outcome{Answer: Good})
		s.state = 1
		s.note(set, Moved, moved)
		r := report()
		r.Path[0].Name, r.Path[1].Name, r.Path[1].Flips = "1.33.13", test.target, []string{
			"AnyVolumeDataSource is locked on",
			test.flip,
		}
		s.Judge(r)
		f := r.Findings[0]
		if f.What != test.what || !strings.Contains(f.Link, test.cause) || (test.cause == "") != (f.Link == "") {
			t.Errorf("%s %s: %q, %q", test.target, test.flip, f.What, f.Link)
		}
		if test.flip != "" && f.Flips[0] != test.flip {
			t.Errorf("the likely gate is not the first of %q", f.Flips)
		}
		s.targets = append(s.targets, set, given("no set"))
		r = report()
		s.Judge(r)
		if got := r.Findings[0].What; got != "the pods of 1 of 2 StatefulSets restart without any write" {
			t.Errorf("pods of one of two objects restart: got %q", got)
		}
	}
}

// New pods of a Job are a second run if it had all its pods before. If it had none, they are its first run, which was
// blocked before. If it had some, it continues.
func TestNewPodsOfAJob(t *testing.T) {
	type object = map[string]any
	made := movement{made: map[string][]string{"Pod": {"a-x"}}, gone: map[string][]string{}}
	for _, test := range []struct {
		name   string
		status object
		want   Answer
	}{
		{"it runs", object{"active": int64(1)}, Bad},
		{"it succeeded", object{"succeeded": int64(1)}, Bad},
		{"it failed", object{"failed": int64(2), "conditions": []any{object{"type": "Failed", "status": "True"}}}, Bad},
		{"it never had a pod", object{}, Changed},
		{"the first pod failed, and it tries again", object{"failed": int64(1)}, Good},
	} {
		job := standingOf(&unstructured.Unstructured{Object: object{"kind": "Job", "status": test.status}})
		if got := made.outcome(job); got.Answer != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// An object that is gone, or on its way, did not stay. One that nobody could list is not judged, and one that is new
// cannot have moved.
func TestStayed(t *testing.T) {
	a := given("a")
	object := func(fields map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": fields}}
	}
	late := object(map[string]any{})
	late.Object["kind"], late.Object["status"] = "Job", map[string]any{"conditions": []any{
		map[string]any{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"},
	}}
	there, going := object(map[string]any{}), object(map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"})
	pods := &movement{gone: map[string][]string{"Pod": {"a-1"}}, made: map[string][]string{}, before: map[string]int{}}
	for _, test := range []struct {
		name   string
		was    bool
		anew   bool
		object *unstructured.Unstructured
		err    error
		moved  *movement
		want   Answer
		words  string
		// kinds is what is served; nil for the kind of the object.
		kinds *inventory.Inventory
	}{
		{"it stays", true, false, there, nil, nil, Good, "", nil},
		{"its pods are replaced", true, false, there, nil, pods, Bad, "pods were deleted", nil},
		{"its pods were deleted because its time is over", true, false, late, nil, pods, NotAsked, "", nil},
		{"it is new, and so are its pods", false, false, there, nil, pods, Good, "", nil},
		{"controllers had no chance", true, false, there, nil, nil, Unknown, "the controller is late", nil},
		{"it was deleted", true, false, nil, nil, nil, Bad, "it was deleted", nil},
		{"it is being deleted", true, false, going, nil, nil, Bad, "it is being deleted", nil},
		{"it cannot be listed", true, false, nil, errors.New("no answer"), nil, Unknown, "no answer", nil},
		{"it was gone before the first check", false, true, nil, nil, nil, Unknown, "gone before the first check", nil},
		{"it is new, and there", false, true, there, nil, nil, Good, "", nil},
		{"it never was there", false, false, nil, nil, nil, NotAsked, "", nil},
		{
			"its kind is not served any more", true, false, nil, nil, nil, Bad,
			"at the end of the state, the API server serves no version of kind Service", &inventory.Inventory{},
		},
		{
			"its kind is not discovered any more", true, false, nil, nil, nil, Unknown,
			"discovery of API group  failed: no endpoints",
			&inventory.Inventory{Undiscovered: map[string]error{"": errors.New("no endpoints")}},
		},
		{"its kind is not served, and it never was there", false, false, nil, nil, nil, NotAsked, "", &inventory.Inventory{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			kinds := map[schema.GroupKind]*inventory.Kind{{Kind: "Service"}: {Versions: []string{"v1"}}}
			l := list{objects: map[string]*unstructured.Unstructured{}, err: test.err}
			if test.object != nil {
				l.objects["a"] = test.object
			}
			found := &observation{
				Inventory: inventory.Inventory{Kinds: kinds},
				lists:     map[schema.GroupVersionKind]list{{Version: "v1", Kind: "Service"}: l},
			}
			if test.kinds != nil {
				found.Inventory = *test.kinds
			}
			if test.name == "controllers had no chance" {
				found.early = "the controller is late"
			}
			got := stayed(a, test.was, test.anew, found, test.moved, standing{})
			if got.Answer != test.want || !strings.Contains(got.Words, test.words) {
				t.Errorf("got %v %q, want %v %q", got.Answer, got.Words, test.want, test.words)
			}
			// An object with a finalizer has the same cause as one without.
			if gone := strings.HasSuffix(test.words, "deleted") && test.moved == nil; (got.Class == "deleted") != gone {
				t.Errorf("the class is %q", got.Class)
			}
		})
	}
}

// A pod of a StatefulSet that finds no node blocks the replacement of the others.
func TestBlocked(t *testing.T) {
	set := &Target{GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}, Name: "a", UID: "a"}
	other := &Target{GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "a", UID: "b"}
	pod := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	for name, test := range map[string]struct {
		root     *Target
		policy   string
		reason   string
		deleting bool
		want     string
	}{
		"it runs":                  {set, "OrderedReady", "", false, ""},
		"it finds no node":         {set, "OrderedReady", "Unschedulable", false, "0/1 nodes"},
		"it does not block others": {set, "Parallel", "Unschedulable", false, ""},
		"it is on its way":         {set, "OrderedReady", "Unschedulable", true, ""},
		"it is of another kind":    {other, "OrderedReady", "Unschedulable", false, ""},
		"it is gated":              {set, "OrderedReady", "SchedulingGated", false, "0/1 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a-0"},
				"status": map[string]any{"conditions": []any{
					map[string]any{"type": "PodScheduled", "reason": test.reason, "message": "0/1 nodes"},
				}},
			}}
			if test.deleting {
				o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			}
			root := &unstructured.Unstructured{Object: map[string]any{
				"spec": map[string]any{"podManagementPolicy": test.policy},
			}}
			found := &observation{
				Inventory: inventory.Inventory{Kinds: map[schema.GroupKind]*inventory.Kind{
					pod.GroupKind():           {Versions: []string{"v1"}},
					test.root.GVK.GroupKind(): {Versions: []string{"v1"}},
				}},
				targets: []*Target{{GVK: pod, Name: "a-0", UID: "p", Root: test.root}},
				lists: map[schema.GroupVersionKind]list{
					pod:           {objects: map[string]*unstructured.Unstructured{"p": o}},
					test.root.GVK: {objects: map[string]*unstructured.Unstructured{test.root.UID: root}},
				},
			}
			if got := found.blocked(test.root); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
