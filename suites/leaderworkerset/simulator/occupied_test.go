package simulator

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// stored is a client of objects in memory.
func stored(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := operator.Scheme(clientgoscheme.AddToScheme, api.AddToScheme)
	golden.Must(t, err)
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&api.LeaderWorkerSet{}).Build()
}

// A user's Service with a required name is not changed, but reported; once it is deleted, the own one is created.
func TestOccupiedNames(t *testing.T) {
	for policy, taken := range map[string]string{"Shared": "my-lws", "UniquePerReplica": "my-lws-0"} {
		t.Run(policy, func(t *testing.T) {
			ctx := t.Context()
			set := newSet("my-lws", 1, 1, 0)
			set.Namespace, set.UID, set.Spec.NetworkConfig = "ns", "1", network(policy)
			key := client.ObjectKey{Namespace: "ns", Name: taken}
			c := stored(t, set, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: taken}})
			said, revisions := events.NewFakeRecorder(1), &revisions{client: c}
			of, err := revisions.ensure(ctx, set)
			golden.Must(t, err)
			var reconciler reconcile.Reconciler = &setReconciler{client: c, live: c, events: said, revisions: revisions}
			if policy == "UniquePerReplica" {
				leader := newPod("my-lws-0", label(api.LabelWorkerIndex, "0"), label(api.LabelRevision, of.hash))
				leader.Namespace, leader.UID = "ns", "2"
				golden.Must(t, c.Create(ctx, leader))
				reconciler = &podReconciler{client: c, live: c, events: said, revisions: revisions, gone: newGoneWorkers()}
			}
			request := reconcile.Request{NamespacedName: key}
			result, err := reconciler.Reconcile(ctx, request)
			if err != nil || result.RequeueAfter != occupiedAgain {
				t.Errorf("with the user's Service the result is %+v, %v", result, err)
			}
			select {
			case event := <-said.Events:
				if !strings.Contains(event, "NameTaken") || !strings.Contains(event, taken) {
					t.Errorf("the event is %s", event)
				}
			default:
				t.Error("there is no event")
			}
			var service corev1.Service
			if err := c.Get(ctx, key, &service); err != nil || len(service.OwnerReferences) > 0 {
				t.Errorf("the user's Service is %+v, %v", service.ObjectMeta, err)
			}
			golden.Must(t, c.Delete(ctx, &service))
			if _, err := reconciler.Reconcile(ctx, request); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(ctx, key, &service); err != nil || metav1.GetControllerOf(&service) == nil {
				t.Errorf("the own Service is %+v, %v", service.ObjectMeta, err)
			}
		})
	}
}

// With the liberty a reconcile returns an error while another object has the name, and while one of an earlier leader
// goes.
func TestErrorsMeanwhile(t *testing.T) {
	held := metav1.ObjectMeta{Finalizers: []string{"test/hold"}, OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "my-lws-0", UID: "1"}},
			corev1.SchemeGroupVersion.WithKind("Pod")),
	}}
	for name, test := range map[string]struct {
		liberties []string
		before    metav1.ObjectMeta
		fails     bool
	}{
		"a user's":                              {},
		"a user's, with the liberty":            {[]string{libertyErrorsMeanwhile}, metav1.ObjectMeta{}, true},
		"an earlier leader's":                   {before: held},
		"an earlier leader's, with the liberty": {[]string{libertyErrorsMeanwhile}, held, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, b := t.Context(), taking(t, test.liberties...)
			set := newSet("my-lws", 1, 1, 0)
			set.Namespace, set.UID, set.Spec.NetworkConfig = "ns", "1", network("UniquePerReplica")
			before := &corev1.Service{ObjectMeta: test.before}
			before.Namespace, before.Name = "ns", "my-lws-0"
			c := stored(t, set, before)
			revisions := &revisions{client: c, behaviour: b}
			of, err := revisions.ensure(ctx, set)
			golden.Must(t, err)
			leader := newPod("my-lws-0", label(api.LabelWorkerIndex, "0"), label(api.LabelRevision, of.hash))
			leader.Namespace, leader.UID = "ns", "2"
			golden.Must(t, c.Create(ctx, leader))
			_, err = (&podReconciler{
				client: c, live: c, events: events.NewFakeRecorder(1), behaviour: b, revisions: revisions, gone: newGoneWorkers(),
			}).Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(leader)})
			if (err != nil) != test.fails {
				t.Errorf("got %v, an error is wanted: %t", err, test.fails)
			}
		})
	}
}
