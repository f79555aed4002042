package writes

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// seen returns an object with this version and content, and the managers that wrote it.
func seen(version, content string, managers ...string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"x": content}}}
	object.SetResourceVersion(version)
	object.SetUID("uid")
	var entries []metav1.ManagedFieldsEntry
	for _, m := range managers {
		entries = append(entries, metav1.ManagedFieldsEntry{Manager: m, Operation: metav1.ManagedFieldsOperationUpdate})
	}
	if len(entries) > 0 {
		object.SetManagedFields(entries)
	}
	return object
}

func terminating(object *unstructured.Unstructured) *unstructured.Unstructured {
	now := metav1.Now()
	object.SetDeletionTimestamp(&now)
	return object
}

func TestTraces(t *testing.T) {
	other := seen("2", "a", "them")
	other.SetUID("another")
	for name, test := range map[string]struct {
		verb        string
		before, now *unstructured.Unstructured
		among       bool
		want        trace
	}{
		"nothing made":                     {"create", nil, nil, false, none},
		"made":                             {"create", nil, seen("1", "a", "us"), false, ours},
		"made by somebody else":            {"create", nil, seen("1", "a", "them"), false, none},
		"made by an unknown writer":        {"create", nil, seen("1", "a"), false, doubtful},
		"made before by nobody knows whom": {"create", seen("1", "a"), seen("1", "a"), false, none},
		"made among others":                {"create", nil, seen("1", "a"), true, none},
		"applied to nothing":               {"apply", nil, nil, false, none},
		"made by an apply":                 {"apply", nil, seen("1", "a", "us"), false, ours},
		"unchanged":                        {"update", seen("1", "a", "them"), seen("1", "a", "them"), false, none},
		"changed":                          {"update", seen("1", "a", "them"), seen("2", "b", "them", "us"), false, ours},
		"changed by somebody else":         {"update", seen("1", "a", "them"), seen("2", "b", "them"), false, none},
		"changed at the same version":      {"patch", seen("1", "a", "them"), seen("1", "b", "them"), false, ours},
		"changed without versions":         {"patch", seen("", "a"), seen("", "b"), false, ours},
		"unchanged without versions":       {"patch", seen("", "a"), seen("", "a"), false, none},
		"written again as it was, by us":   {"patch", seen("1", "a", "them"), seen("2", "a", "them", "us"), false, ours},
		"changed by an unknown writer":     {"patch", seen("1", "a"), seen("2", "b"), false, doubtful},
		"changed, among others":            {"patch", seen("1", "a"), seen("2", "b"), true, none},
		"deleted by somebody else":         {"patch", seen("1", "a"), nil, false, none},
		"deletion of nothing":              {"delete", nil, nil, false, none},
		"not deleted":                      {"delete", seen("1", "a"), seen("1", "a"), false, none},
		"deleted":                          {"delete", seen("1", "a"), nil, false, ours},
		"terminating":                      {"delete", seen("1", "a"), terminating(seen("2", "a")), false, ours},
		"terminating before": {
			"delete", terminating(seen("1", "a")), terminating(seen("2", "a")), false,
			none,
		},
		"deleted, and another in its place": {"evict", seen("1", "a"), other, false, ours},
	} {
		t.Run(name, func(t *testing.T) {
			op := &operation{
				verb: test.verb, effect: table()[test.verb].effect, manager: "us", before: test.before,
				among: test.among, uid: "uid", there: strangers{},
			}
			if test.verb == "create" && test.before != nil {
				op.there.add(test.before)
			}
			if got, what := op.trace(test.now); got != test.want {
				t.Errorf("got %d (%s), want %d", got, what, test.want)
			}
		})
	}
}
