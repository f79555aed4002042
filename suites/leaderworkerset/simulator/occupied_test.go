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

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// stored is a client of objects in memory.
func stored(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := operator.Scheme(clientgoscheme.AddToScheme, api.AddToScheme)
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
			var reconciler reconcile.Reconciler = &setReconciler{client: c, live: c, events: said, revisions: revisions}
			if policy == "UniquePerReplica" {
				leader := newPod("my-lws-0", label(api.LabelWorkerIndex, "0"), label(api.LabelRevision, of.hash))
				leader.Namespace, leader.UID = "ns", "2"
				if err := c.Create(ctx, leader); err != nil {
					t.Fatal(err)
				}
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
			if err := c.Delete(ctx, &service); err != nil {
				t.Fatal(err)
			}
			if _, err := reconciler.Reconcile(ctx, request); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(ctx, key, &service); err != nil || metav1.GetControllerOf(&service) == nil {
				t.Errorf("the own Service is %+v, %v", service.ObjectMeta, err)
			}
		})
	}
}
