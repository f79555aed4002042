package liberty

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// With the liberty there is an Event about each object that exists, also if the reconcile fails, and its result stays.
func TestEvents(t *testing.T) {
	failure := errors.New("failed")
	for name, c := range map[string]struct {
		liberties []string
		object    string
		err       error
		want      int
	}{
		"without the liberty": {object: "web"},
		"an object":           {liberties: []string{MoreEvents}, object: "web", want: 1},
		"a failure":           {liberties: []string{MoreEvents}, object: "web", err: failure, want: 1},
		"no object":           {liberties: []string{MoreEvents}, object: "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			said := events.NewFakeRecorder(2)
			inner := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: 1}, c.err
			})
			live := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(service("web")).Build()
			result, err := set(t, c.liberties...).Events(live, said, corev1.SchemeGroupVersion.WithKind("Service"), inner).
				Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: c.object}})
			if !errors.Is(err, c.err) || result.RequeueAfter != 1 {
				t.Errorf("the result is %+v, %v", result, err)
			}
			if len(said.Events) != c.want {
				t.Errorf("%d Events, want %d", len(said.Events), c.want)
			}
		})
	}
}
