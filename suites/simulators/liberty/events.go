package liberty

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// MoreEvents is the liberty to record Events that the specification does not mention.
const MoreEvents = "more-events"

// OfRecorders are the liberties of controllers that Events returns.
func OfRecorders() []Liberty {
	return []Liberty{
		{Name: MoreEvents, Sentence: "Each reconcile records an Event that the specification does not mention."},
	}
}

// Events is a controller of objects of a kind. With the liberty, each reconcile records an Event about its object.
func (s Set) Events(live client.Reader, recorder events.EventRecorder, kind schema.GroupVersionKind,
	inner reconcile.Reconciler,
) reconcile.Reconciler {
	if !s.Has(MoreEvents) {
		return inner
	}
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		result, err := inner.Reconcile(ctx, request)
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(kind)
		if live.Get(ctx, request.NamespacedName, object) == nil { // an Event needs an object, and may be missing
			s.Takes(MoreEvents)
			recorder.Eventf(object, nil, corev1.EventTypeNormal, "Reconciled", "Reconcile", "its dependents were looked at")
		}
		return result, err
	})
}
