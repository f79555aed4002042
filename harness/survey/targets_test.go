package survey

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/harness/inventory"
)

// observationOf is an observation without objects. Its kinds are examined.
func observationOf(examined map[schema.GroupKind]bool) *observation {
	return &observation{
		Inventory: inventory.Inventory{Kinds: map[schema.GroupKind]*inventory.Kind{}},
		lists:     map[schema.GroupVersionKind]list{}, examined: examined,
	}
}

// add adds an object to the list of its kind, and serves the version. spec may be nil.
func (f *observation) add(gvk schema.GroupVersionKind, uid, owner string, spec map[string]any) {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(gvk)
	o.SetUID(types.UID(uid))
	o.SetName(uid)
	if yes := true; owner != "" {
		o.SetOwnerReferences([]metav1.OwnerReference{{UID: types.UID(owner), Controller: &yes}})
	}
	f.serve(gvk)
	f.lists[gvk].objects[uid] = o
}

// serve serves a version of a kind, after those that are served already.
func (f *observation) serve(gvk schema.GroupVersionKind) {
	kind := gvk.GroupKind()
	if f.Kinds[kind] == nil {
		f.Kinds[kind] = &inventory.Kind{Resource: strings.ToLower(kind.Kind) + "s", Namespaced: true}
	}
	if how := f.Kinds[kind]; !slices.Contains(how.Versions, gvk.Version) {
		how.Versions = append(how.Versions, gvk.Version)
		f.lists[gvk] = list{objects: map[string]*unstructured.Unstructured{}}
	}
}

// namesOf are the names of targets, apart from the given ones.
func namesOf(targets []*Target) string {
	var all []string
	for _, t := range targets {
		if t.Root != nil {
			all = append(all, t.Name)
		}
	}
	return strings.Join(all, " ")
}

func ofGroup(group, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
}

// An operator creates a custom resource for a given one, and a StatefulSet for that. The custom resource, the
// StatefulSet and its Pods belong to the given one.
func TestDependentsThroughAnOperator(t *testing.T) {
	given := &Target{GVK: ofGroup("example.com", "Group"), Name: "web", UID: "1"}
	s := &Survey{targets: []*Target{given}}
	examined := kindsAround(s.targets, customKinds(map[string]*unstructured.Unstructured{
		"": {Object: map[string]any{"spec": map[string]any{
			"group": "example.com", "names": map[string]any{"kind": "Member"},
		}}},
	}))
	found := observationOf(examined)
	for _, one := range []struct {
		kind       schema.GroupVersionKind
		uid, owner string
	}{
		{given.GVK, "1", ""},
		{ofGroup("example.com", "Member"), "between", "1"},
		{ofGroup("apps", "StatefulSet"), "2", "between"},
		{ofGroup("", "Pod"), "3", "2"},
		{ofGroup("", "Pod"), "4", "nobody here"},
	} {
		if !examined[one.kind.GroupKind()] {
			t.Fatalf("%s is not read", one.kind.Kind)
		}
		found.add(one.kind, one.uid, one.owner, nil)
	}
	s.findTargets(found)
	if got, want := namesOf(found.targets), "between 3 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, target := range found.targets {
		if target != given && target.Root != given {
			t.Errorf("%s belongs to %v", target, target.Root)
		}
	}
}

// A CronJob, and a Job that expires, come and go with time, and so does what belongs to them.
func TestDependentsThatMoveWithTime(t *testing.T) {
	given := &Target{GVK: ofGroup("example.com", "Backup"), Name: "web", UID: "1"}
	s := &Survey{targets: []*Target{given}}
	found := observationOf(nil)
	found.add(given.GVK, "1", "", nil)
	found.add(ofGroup("batch", "CronJob"), "nightly", "1", nil)
	found.add(ofGroup("batch", "Job"), "nightly-1", "nightly", nil)
	found.add(ofGroup("", "Pod"), "nightly-1-a", "nightly-1", nil)
	found.add(ofGroup("batch", "Job"), "once", "1", map[string]any{"ttlSecondsAfterFinished": int64(60)})
	found.add(ofGroup("", "Pod"), "once-a", "once", nil)
	found.add(ofGroup("batch", "Job"), "stays", "1", nil)
	found.add(ofGroup("", "Pod"), "stays-a", "stays", nil)
	s.findTargets(found)
	var timed []string
	for _, target := range found.targets {
		if target.timed {
			timed = append(timed, target.Name)
		}
	}
	if got, want := strings.Join(timed, " "), "nightly nightly-1 once nightly-1-a once-a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// If a kind cannot be listed, the dependents that were there before are hidden, and what belongs to them is still
// found. If only the preferred version cannot be listed, they are found in another one.
func TestDependentsThatCannotBeListed(t *testing.T) {
	replicaSets, pods, other := ofGroup("apps", "ReplicaSet"), ofGroup("", "Pod"), ofGroup("apps", "ReplicaSet")
	other.Version = "v1beta2"
	failed := list{err: apierrors.NewInternalError(errors.New("cannot decode"))}
	for _, test := range []struct {
		name string
		then func(found *observation)
		// found and hidden are dependents at the second look, and read the outcome of the check "read" of ReplicaSets.
		found, hidden string
		read          Answer
	}{
		{"it can be listed", func(*observation) {}, "web-1-a web-1", "", Good},
		{
			"no version can be listed",
			func(f *observation) { f.lists[replicaSets], f.lists[other] = failed, failed },
			"web-1-a", "web-1", Bad,
		},
		{
			"the preferred version cannot be listed",
			func(f *observation) { f.lists[replicaSets] = failed },
			"web-1-a web-1", "", Bad,
		},
		{"another version cannot be listed", func(f *observation) { f.lists[other] = failed }, "web-1-a web-1", "", Bad},
		{
			"nobody answers", func(f *observation) {
				f.lists[replicaSets], f.lists[other] = list{err: errors.New("no answer")}, list{err: errors.New("no answer")}
			},
			"web-1-a", "web-1", Unknown,
		},
		{"its group is not discovered", func(f *observation) {
			delete(f.Kinds, replicaSets.GroupKind())
			f.Undiscovered = map[string]error{"apps": errors.New("no answer")}
		}, "web-1-a", "web-1", Unknown},
		{"it is not served", func(f *observation) { delete(f.Kinds, replicaSets.GroupKind()) }, "web-1-a", "web-1", Bad},
		{"its kind was removed, and its objects with it", func(f *observation) {
			delete(f.Kinds, replicaSets.GroupKind())
			delete(f.examined, replicaSets.GroupKind())
		}, "", "", NotAsked},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := &Target{GVK: ofGroup("apps", "Deployment"), Name: "web", UID: "1"}
			s := &Survey{targets: []*Target{given}, answers: answers{series: map[key]*Series{}}}
			look := func() *observation {
				found := observationOf(map[schema.GroupKind]bool{replicaSets.GroupKind(): true, pods.GroupKind(): true})
				found.add(given.GVK, "1", "", nil)
				found.add(replicaSets, "web-1", "1", nil)
				found.add(other, "web-1", "1", nil)
				found.add(pods, "web-1-a", "web-1", nil)
				return found
			}
			s.findTargets(look())
			for state := range 2 { // what is hidden stays hidden
				s.state = state
				found := look()
				test.then(found)
				s.findTargets(found)
				s.judgeReading(found)
				if got := namesOf(found.targets); got != test.found || namesOf(found.hidden) != test.hidden {
					t.Errorf("got %q, and hidden %q", got, namesOf(found.hidden))
				}
				for _, target := range slices.Concat(found.targets, found.hidden) {
					if found.there(Mark{})[target.UID] != target {
						t.Errorf("%s is not in the mark", target)
					}
				}
				got := Outcome{}
				if series := s.series[key{given, replicaSets.GroupKind(), Read}]; series != nil {
					got = series.Outcomes[state]
				}
				if got.Answer != test.read {
					t.Errorf("reading a ReplicaSet: %+v", got)
				}
			}
		})
	}
}

// An object that another shard surveys takes what belongs to it along, and is no dependent of its own owner.
func TestDependentsOfOtherShards(t *testing.T) {
	object := func(kind, uid, owner string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind}}
		o.SetUID(types.UID(uid))
		if owner != "" {
			o.SetOwnerReferences([]metav1.OwnerReference{{UID: types.UID(owner), Controller: ptr.To(true)}})
		}
		return o
	}
	f := family{
		given: map[string]*Target{"prometheus": {UID: "prometheus"}}, owners: map[string]string{},
		objects: map[string]*unstructured.Unstructured{},
	}
	f.add(map[string]*unstructured.Unstructured{
		"prometheus": object("Prometheus", "prometheus", ""), "set": object("StatefulSet", "set", "prometheus"),
		"pod": object("Pod", "pod", "set"), "config": object("ConfigMap", "config", "prometheus"),
	})
	for _, c := range []struct {
		elsewhere, want string
	}{{"", "config pod set"}, {"set", "config"}} {
		f.elsewhere = func(uid string) bool { return uid == c.elsewhere }
		var uids []string
		for _, dependent := range f.dependents() {
			uids = append(uids, dependent.UID)
		}
		slices.Sort(uids)
		if got := strings.Join(uids, " "); got != c.want {
			t.Errorf("another shard has %q: the dependents are %q, want %q", c.elsewhere, got, c.want)
		}
	}
}
