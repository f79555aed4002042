package finalizing

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

var crds = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

func TestRetry(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		deleted bool
		reason  string
		before  time.Duration // since the last retry; 0: there was none
		want    bool
	}{
		"its deletion has failed":             {deleted: true, reason: "InstanceDeletionFailed", want: true},
		"it has failed again":                 {true, "InstanceDeletionFailed", 2 * time.Second, true},
		"it was retried just now":             {true, "InstanceDeletionFailed", time.Second / 2, false},
		"its deletion is in progress":         {deleted: true, reason: "InstanceDeletionInProgress"},
		"it is not being deleted":             {reason: "InstanceDeletionFailed"},
		"nothing is known about its deletion": {deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			crd := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
				"metadata": map[string]any{"name": "gizmos.example.com", "uid": "u"},
				"status":   map[string]any{"conditions": []any{map[string]any{"type": "Terminating", "reason": test.reason}}},
			}}
			if test.deleted {
				crd.SetDeletionTimestamp(&metav1.Time{Time: now})
			}
			last := ""
			if test.before > 0 {
				last = now.Add(-test.before).Format(time.RFC3339Nano)
				crd.SetAnnotations(map[string]string{retried: last})
			}
			api := fake.NewSimpleDynamicClient(runtime.NewScheme(), crd).Resource(crds)
			golden.Must(t, Retry(t.Context(), api, "gizmos.example.com", now))
			after, err := api.Get(t.Context(), "gizmos.example.com", metav1.GetOptions{})
			golden.Must(t, err)
			if got := after.GetAnnotations()[retried] != last; got != test.want {
				t.Errorf("changed: %t, want %t", got, test.want)
			}
		})
	}
}

// An object that does not exist needs no retry.
func TestRetryOfNothing(t *testing.T) {
	api := fake.NewSimpleDynamicClient(runtime.NewScheme()).Resource(crds)
	golden.Must(t, Retry(t.Context(), api, "gizmos.example.com", time.Now()))
}
