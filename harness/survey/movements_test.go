package survey

import (
	"cmp"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/inventory"
)

func pod(uid string, root *Target, timed bool) *Target {
	return &Target{GVK: ofGroup("", "Pod"), Name: uid, UID: uid, Root: root, timed: timed}
}

// Changes of dependents count, unless they come and go with time. Changes of given objects, and of objects of others,
// do not.
func TestMovements(t *testing.T) {
	root := given("a")
	restarted := func(n int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "status": map[string]any{
			"containerStatuses": []any{map[string]any{"restartCount": n}},
		}}}
	}
	deleted, added := history.Change{Type: history.Deleted}, history.Change{Type: history.Added}
	again := history.Change{Type: history.Modified, Before: restarted(1), Object: restarted(2)}
	same := history.Change{Type: history.Modified, Before: restarted(2), Object: restarted(2)}
	for _, test := range []struct {
		name    string
		was, is *Target
		change  history.Change
		want    string
	}{
		{"its pod was deleted", pod("x", root, false), nil, deleted, "[x] [] []"},
		{"it got a pod", nil, pod("x", root, false), added, "[] [x] []"},
		{"its pod was restarted", pod("x", root, false), pod("x", root, false), again, "[] [] [x]"},
		{"its pod was written", pod("x", root, false), pod("x", root, false), same, ""},
		{"its pod is that of an expiring Job", pod("x", root, true), nil, deleted, ""},
		{"it got a pod on schedule", nil, pod("x", root, true), added, ""},
		{"a pod that came on schedule was restarted", pod("x", root, true), pod("x", root, true), again, ""},
		{"it is a pod, and was restarted itself", root, root, again, "[] [] [x]"},
		{"it was deleted itself", root, nil, deleted, ""},
		{"a pod of another owner", nil, nil, deleted, ""},
		{"its pod was deleted before the mark", pod("x", root, false), nil, history.Change{Type: history.Deleted, Seq: 3}, ""},
		{"it got a pod that the mark did not see", nil, pod("x", root, false), history.Change{Type: history.Added, Seq: 3}, "[] [x] []"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := movements{was: map[string]*Target{}, is: map[string]*Target{}, judged: 3, of: map[*Target]*movement{}}
			test.change.Seq = cmp.Or(test.change.Seq, 4)
			if test.was != nil {
				m.was["x"] = test.was
			}
			if test.is != nil {
				m.is["x"] = test.is
			}
			test.change.Name, test.change.UID = "x", types.UID("x")
			m.add(test.change)
			got := ""
			if one := m.of[root]; one != nil {
				got = fmt.Sprint(one.gone["Pod"], one.made["Pod"], one.restarted)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A dependent of a kind without a watch is gone if it was there at the last state, its owner still exists, and its kind
// could be listed.
func TestVanished(t *testing.T) {
	root, other := given("a"), given("gone")
	child := &Target{GVK: ofGroup("autoscaling", "HorizontalPodAutoscaler"), Name: "child", UID: "child", Root: root}
	orphan := &Target{GVK: child.GVK, Name: "orphan", UID: "orphan", Root: other}
	for _, test := range []struct {
		name  string
		there bool
		err   error
		want  string
	}{
		{"it is gone", false, nil, "a HorizontalPodAutoscaler was deleted: child"},
		{"it is there", true, nil, ""},
		{"its kind could not be listed", false, errors.New("no answer"), ""},
	} {
		m := movements{
			was: map[string]*Target{"child": child, "orphan": orphan}, is: map[string]*Target{"a": root}, of: map[*Target]*movement{},
		}
		if test.there {
			m.is["child"] = child
		}
		found := &observation{
			Inventory: inventory.Inventory{Kinds: map[schema.GroupKind]*inventory.Kind{
				child.GVK.GroupKind(): {Versions: []string{child.GVK.Version}},
			}},
			lists: map[schema.GroupVersionKind]list{child.GVK: {err: test.err}},
		}
		m.vanished(found)
		got := Outcome{}
		if one := m.of[root]; one != nil {
			got = one.outcome(standing{})
		}
		if got.Words != test.want || (got.Answer == Changed) != (test.want != "") || m.of[other] != nil {
			t.Errorf("%s: got %v %q, want %q", test.name, got.Answer, got.Words, test.want)
		}
	}
}
