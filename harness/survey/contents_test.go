package survey

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCompared(t *testing.T) {
	type object = map[string]any
	for _, test := range []struct {
		name          string
		before, after object
		want          Answer
	}{
		{"equal", object{"a": object{"b": int64(1)}}, object{"a": object{"b": int64(1)}}, Good},
		{"null is absent", object{"a": nil}, object{}, Good},
		{"a new default", object{}, object{"a": int64(1)}, Changed},
		{"a field is gone", object{"a": int64(1)}, object{}, Bad},
		{"another value", object{"a": []any{"x"}}, object{"a": []any{"y"}}, Bad},
		{"a shorter list", object{"a": []any{"x", "y"}}, object{"a": []any{"x"}}, Bad},
		{"a longer list", object{"a": []any{"x", "y"}}, object{"a": []any{"x", "z", "y"}}, Changed},
		{"a longer list without an old element", object{"a": []any{"x", "y"}}, object{"a": []any{"y", "z", "x"}}, Bad},
		{"a list of equal elements is longer", object{"a": []any{"x"}}, object{"a": []any{"x", "x"}}, Changed},
		{
			"a write changed the generation",
			object{"metadata": object{"generation": int64(1)}},
			object{"metadata": object{"generation": int64(2)}},
			Changed,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := compared("Service", test.before, test.after, noDefaults); got.Answer != test.want {
				t.Errorf("got %+v, want answer %d", got, test.want)
			}
		})
	}
}

// A claim may be bound at any time. That it is bound to another volume is a change.
func TestBoundLater(t *testing.T) {
	type object = map[string]any
	annotations := object{"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": "a"}
	unbound := object{"metadata": object{"name": "a"}, "spec": object{"storageClassName": "slow"}}
	bound := func(volume string, annotations object) object {
		return object{
			"metadata": object{"name": "a", "annotations": annotations},
			"spec":     object{"storageClassName": "slow", "volumeName": volume},
		}
	}
	for _, test := range []struct {
		name          string
		before, after object
		want          Answer
	}{
		{"it is bound", unbound, bound("a", annotations), Good},
		{"it has another annotation, too", unbound, bound("a", object{"mine": "1"}), Changed},
		{"it has another volume", bound("a", annotations), bound("b", annotations), Bad},
		{"it is not bound any more", bound("a", annotations), unbound, Bad},
	} {
		if got := compared("PersistentVolumeClaim", test.before, test.after, noDefaults); got.Answer != test.want {
			t.Errorf("%s: %+v, want answer %d", test.name, got, test.want)
		}
	}
}

func TestKept(t *testing.T) {
	type object = map[string]any
	for _, test := range []struct {
		name          string
		before, after object
		want          Answer
	}{
		{"equal", object{"a": int64(1)}, object{"a": int64(1)}, Good},
		{"a default is added", object{}, object{"a": int64(1)}, Good},
		{"a field is dropped", object{"spec": object{"a": "x"}}, object{"spec": object{}}, Bad},
		{"two fields are dropped", object{"spec": object{"a": "x", "b": "y"}}, object{"spec": object{}}, Bad},
		{"a value differs", object{"a": "x"}, object{"a": "y"}, Bad},
		{"a list is shorter", object{"a": []any{"x", "y"}}, object{"a": []any{"y"}}, Bad},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := kept("Pod", "a label", test.before, test.after)
			parts := strings.Split(got.Words, betweenParts)
			named := !slices.ContainsFunc(parts, func(part string) bool { return !strings.HasPrefix(part, "a label changes ") })
			if got.Answer != test.want || (got.Answer == Bad) != named {
				t.Errorf("got %+v, want answer %d", got, test.want)
			}
		})
	}
}

// Outcomes show no secret, whatever kind of object contains it.
func TestOutcomesShowNoSecrets(t *testing.T) {
	env := func(value string) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "c",
			"env":  []any{map[string]any{"name": "PASSWORD", "value": value}},
		}}}}
	}
	for kind, objects := range map[string][2]map[string]any{
		"Secret": {{"data": map[string]any{"a": "hush1"}}, {"data": map[string]any{"a": "hush2"}}},
		"Pod":    {env("hush1"), env("hush2")},
	} {
		got := compared(kind, objects[0], objects[1], noDefaults)
		if got.Answer != Bad || strings.Contains(got.Words, "hush") {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// A default that only the version set in which the object was recreated may be absent in an older version.
func TestDefaultsOfANewerVersion(t *testing.T) {
	type object = map[string]any
	manifest := &unstructured.Unstructured{Object: object{"spec": object{"given": true}}}
	target := &Target{Given: &manifests.Object{Content: manifest}}
	former := contents{}
	again := object{"spec": object{"given": true, "default": false, "older": false}}
	was, err := json.Marshal(again)
	golden.Must(t, err)
	left := func(fields ...string) Outcome {
		now := object{"spec": object{}}
		for _, field := range fields {
			now["spec"].(object)[field] = again["spec"].(object)[field]
		}
		text, err := json.Marshal(now)
		golden.Must(t, err)
		return comparedWith("CSIDriver", was, text, now, defaults(former, target, "v1", was))
	}
	if got := left("given", "older"); got.Answer != Bad {
		t.Errorf("it was not recreated: %v", got)
	}
	former["v1"] = []byte(`{"spec": {"given": true, "older": false}}`)
	for want, fields := range map[Answer][]string{
		Changed: {"given", "older"}, Bad: {"given", "default"}, Good: {"given", "older", "default"},
	} {
		if got := left(fields...); got.Answer != want {
			t.Errorf("%q are left: %v, want %v", fields, got, want)
		}
	}
	if got := left("older", "default"); got.Answer != Bad {
		t.Errorf("what the manifest sets is gone: %v", got)
	}
}

// What is added beside a loss does not make it another loss.
func TestClassOfALoss(t *testing.T) {
	before := map[string]any{"spec": map[string]any{"a": "1"}}
	for _, after := range []map[string]any{{}, {"b": "2"}} {
		if got := compared("Service", before, map[string]any{"spec": after}, noDefaults); got.Class != "spec.a" {
			t.Errorf("after %v: class %q", after, got.Class)
		}
	}
}
