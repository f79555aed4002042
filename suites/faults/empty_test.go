package faults

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestEmpty(t *testing.T) {
	going := metav1.Now()
	client := fake.NewClientset(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:   "over",
			Labels: map[string]string{harness.ScenarioLabel: "over"},
		}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:   "going",
			Labels: map[string]string{harness.ScenarioLabel: "going"}, DeletionTimestamp: &going, Finalizers: []string{"x"},
		}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "over"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "going"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "other"}},
	)
	golden.Must(t, empty(t.Context(), client))
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 || pods.Items[0].Name != "c" {
		t.Errorf("%v; left are %v, want c alone", err, pods.Items)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "over", metav1.GetOptions{}); err == nil {
		t.Error("a namespace that was not told to go is still there")
	}
}
