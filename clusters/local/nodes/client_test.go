package nodes

import (
	"errors"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Only the pod that is being deleted is ended, never one that has its name.
func TestPodsAreEndedByUID(t *testing.T) {
	now := metav1.Now()
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "old", UID: "1", DeletionTimestamp: &now, Finalizers: []string{"example.com/held"},
	}}
	next := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "next", UID: "2"}}
	fakes := fake.NewClientset(old, next)
	pods := client{fakes}.CoreV1().Pods("ns")
	for _, name := range []string{"old", "next"} {
		golden.Must(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	if err := pods.Delete(t.Context(), "gone", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that is gone: %v", err)
	}
	var ended []types.UID
	for _, action := range fakes.Actions() {
		if deletion, ok := action.(clienttesting.DeleteActionImpl); ok {
			ended = append(ended, *deletion.DeleteOptions.Preconditions.UID)
		}
	}
	if len(ended) != 1 || ended[0] != "1" {
		t.Errorf("ended by UID: %v, want 1", ended)
	}
}

// The read before the end of a pod is repeated: kwok would drop the deletion.
func TestThePodIsReadUntilThereIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := metav1.Now()
		fakes := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "a", UID: "1", DeletionTimestamp: &now, Finalizers: []string{"example.com/held"},
		}})
		failures := 2
		fakes.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			failures--
			return failures >= 0, nil, apierrors.NewInternalError(errors.New("no etcd"))
		})
		err := client{fakes}.CoreV1().Pods("ns").Delete(t.Context(), "a", metav1.DeleteOptions{})
		if err != nil || failures >= 0 {
			t.Errorf("error %v, %d failures left", err, failures)
		}
	})
}
