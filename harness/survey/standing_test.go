package survey

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// The status of an object is compared with its first one.
func TestStands(t *testing.T) {
	type object = map[string]any
	status := func(kind string, status object) standing {
		return standingOf(&unstructured.Unstructured{Object: object{"kind": kind, "status": status}})
	}
	conditions := func(pairs ...string) object {
		var list []any
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, object{"type": pairs[i], "status": pairs[i+1]})
		}
		return object{"conditions": list}
	}
	for _, test := range []struct {
		name, kind    string
		before, after object
		want          Answer
		words         string
	}{
		{"equal", "Pod", conditions("Ready", "True"), conditions("Ready", "True"), Good, ""},
		{"no longer ready", "Pod", conditions("Ready", "True"), conditions("Ready", "False"), Bad, "Ready was True"},
		{"the condition is gone", "Ingress", conditions("Programmed", "True"), object{}, Bad, "Programmed was True"},
		{"it was never ready", "Pod", conditions("Ready", "False"), conditions("Ready", "False"), Good, ""},
		{
			"it no longer progresses", "Deployment", conditions("Progressing", "True"), conditions("Progressing", "False"), Good,
			"",
		},
		{"it failed", "Job", object{}, conditions("Failed", "True"), Bad, "Failed is True"},
		{"it had failed before", "Job", conditions("Failed", "True"), conditions("Failed", "True"), Good, ""},
		{
			"a schema that is not structural", "CustomResourceDefinition",
			object{},
			conditions("NonStructuralSchema", "True"),
			Bad, "NonStructuralSchema is True",
		},
		{
			"the claim is lost", "PersistentVolumeClaim",
			object{"phase": "Bound"},
			object{"phase": "Lost"},
			Bad,
			"phase was Bound and is Lost",
		},
		{
			"its containers ended", "Pod",
			object{"phase": "Running", "conditions": conditions("Ready", "True", "ContainersReady", "True")["conditions"]},
			object{"phase": "Succeeded", "conditions": conditions("Ready", "False", "ContainersReady", "False")["conditions"]},
			Good, "",
		},
		{"it ran and has finished", "Pod", object{"phase": "Running"}, object{"phase": "Succeeded"}, Good, ""},
		{
			"fewer are ready", "Deployment",
			object{"readyReplicas": int64(3)},
			object{"readyReplicas": int64(2)},
			Bad,
			"readyReplicas was 3 and is 2",
		},
		{
			"its work has ended", "LeaderWorkerSet",
			conditions("UpdateInProgress", "True", "Available", "True"),
			conditions("UpdateInProgress", "False", "Available", "True"), Good, "",
		},
		{
			"it scales no more", "HorizontalPodAutoscaler",
			conditions("ScalingActive", "True"), conditions("ScalingActive", "False"), Bad, "ScalingActive",
		},
		{"more are ready", "Deployment", object{"readyReplicas": int64(2)}, object{"readyReplicas": int64(3)}, Good, ""},
		{"another address", "Pod", object{"podIP": "10.0.0.1"}, object{"podIP": "10.0.0.2"}, Bad, "podIP was 10.0.0.1"},
		{
			"the load balancer is gone", "Service",
			object{"loadBalancer": object{"ingress": []any{object{"ip": "192.0.2.1"}}}},
			object{"loadBalancer": object{}},
			Bad, "loadBalancer",
		},
		{
			"a stored version is gone", "CustomResourceDefinition",
			object{},
			object{"storedVersions": []any{"v1alpha1"}},
			Bad,
			"storedVersions has v1alpha1",
		},
		{
			"a policy's expression no longer type-checks", "ValidatingAdmissionPolicy",
			object{},
			object{"typeChecking": object{"expressionWarnings": []any{object{
				"fieldRef": "spec.validations[0]",
				"warning":  "no such field",
			}}}},
			Changed, "no such field",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := stands(status(test.kind, test.before), status(test.kind, test.after))
			if got.Answer != test.want || !strings.Contains(got.Words, test.words) {
				t.Errorf("got %+v, want answer %d with %q", got, test.want, test.words)
			}
		})
	}
}

// A definition that lacks one of its stored versions at the first state was broken before.
func TestStoredVersionsAtTheFirstState(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"kind": "CustomResourceDefinition", "spec": map[string]any{"versions": []any{map[string]any{"name": "v1"}}},
		"status": map[string]any{"storedVersions": []any{"v1", "v1beta1"}},
	}}
	if got := standingOf(o).alone(); got.Answer != Bad || !strings.Contains(got.Words, "v1beta1") ||
		strings.Contains(got.Words, "v1,") {
		t.Errorf("%+v", got)
	}
}

// What never ran cannot show what an upgrade does to it.
func TestPodThatNoNodeTakes(t *testing.T) {
	waits := standingOf(&unstructured.Unstructured{Object: map[string]any{
		"kind": "Pod", "status": map[string]any{"phase": "Pending", "conditions": []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "Insufficient nvidia.com/gpu",
		}}},
	}})
	runs := standingOf(&unstructured.Unstructured{Object: map[string]any{
		"kind": "Pod", "status": map[string]any{"phase": "Running", "conditions": []any{map[string]any{
			"type": "PodScheduled", "status": "True",
		}}},
	}})
	for _, test := range []struct {
		name string
		got  Outcome
		want Answer
	}{
		{"at first", waits.alone(), Bad},
		{"still", stands(waits, waits), Bad},
		{"at last it runs", stands(waits, runs), Good},
		{"it runs", runs.alone(), Good},
	} {
		if test.got.Answer != test.want {
			t.Errorf("%s: %+v, want answer %d", test.name, test.got, test.want)
		}
	}
	if first, still := waits.alone(), stands(waits, waits); !lasts(Condition, first, still) ||
		!strings.Contains(first.Words, "nvidia.com/gpu") {
		t.Errorf("first %+v, then %+v", first, still)
	}
}

// What an object achieves later must not be lost, either.
func TestWhatIsAchievedLater(t *testing.T) {
	at := func(status map[string]any) standing {
		return standingOf(&unstructured.Unstructured{Object: map[string]any{"kind": "Gadget", "status": status}})
	}
	begins, ready := at(map[string]any{}), at(map[string]any{
		"readyReplicas": int64(2), "podIP": "10.0.0.1",
		"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
	})
	then := begins.with(ready)
	for _, test := range []struct {
		name string
		now  standing
		want string
	}{
		{"it stays", ready, ""},
		{"all is lost", begins, "condition Ready was True and is not; readyReplicas was 2 and is 0; its podIP was 10.0.0.1"},
	} {
		got := stands(then, test.now)
		if (got.Answer == Bad) != (test.want != "") || !strings.HasPrefix(got.Words, test.want) {
			t.Errorf("%s: %+v, want %q", test.name, got, test.want)
		}
	}
	if again := then.with(begins); stands(again, begins).Answer != Bad {
		t.Error("what was lost is not expected any more")
	}
	failing := at(map[string]any{"phase": "Pending", "conditions": []any{
		map[string]any{"type": "ReplicaFailure", "status": "True"},
	}})
	if got := stands(failing.with(ready), failing); got.Answer != Bad || !strings.Contains(got.Words, "ReplicaFailure") {
		t.Errorf("what had ended is wrong again: %+v", got)
	}
	if stuck := (standing{stuck: "no node"}).with(begins); stuck.stuck != "" {
		t.Errorf("it ran, and counts as stuck: %s", stuck.stuck)
	}
}

// Something that was recreated must run. A new Pod of something that rolls out may wait for its place.
func TestFirst(t *testing.T) {
	stuck, ran := standing{stuck: "no node"}, standing{counts: map[string]int64{"readyReplicas": 2}}
	for _, test := range []struct {
		name, kind string
		state      int
		recreated  bool
		now        standing
		want       Answer
		// later is the answer at the next state, if nothing changes.
		later Answer
	}{
		{"it does not run at the first state", "Deployment", 0, false, stuck, Bad, Bad},
		{"it waits for its place", "Pod", 1, false, stuck, Good, Bad},
		{"its pods cannot be created", "Deployment", 1, false, stuck, Bad, Bad},
		{"it was recreated, and does not run", "Deployment", 1, true, stuck, Bad, Bad},
		{"it was recreated, and nothing of it is ready", "Deployment", 1, true, standing{}, Bad, Good},
		{
			"it was recreated, and part of it is ready", "Deployment", 1, true,
			standing{counts: map[string]int64{"readyReplicas": 1}},
			Good, Good,
		},
	} {
		s := &Survey{
			former:   map[*Target]contents{},
			standing: map[string]standing{}, anew: map[*Target]standing{}, had: map[string]subresources{},
			answers: answers{state: test.state},
		}
		a := given("a")
		a.GVK.Kind = test.kind
		s.targets = []*Target{a}
		s.standing[a.UID] = ran
		if test.recreated {
			s.Replace([]*manifests.Object{a.Given}, Created{Object: a.Given, UID: "new"})
		}
		if got := first(s, a, test.now); got.Answer != test.want {
			t.Errorf("%s: got %+v", test.name, got)
		}
		if got := stands(s.standing[a.UID], test.now); got.Answer != test.later {
			t.Errorf("%s: then %+v", test.name, got)
		}
		s.series = map[key]*Series{}
		r := report()
		s.Judge(r)
		waits := test.want == Good && test.later == Bad // only the next state judges it
		if got := r.Count(upgrades.Unjudged); (got == 1) != waits {
			t.Errorf("%s: %d findings are not judged if no state follows", test.name, got)
		}
	}
}
