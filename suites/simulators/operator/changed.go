package operator

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// SpecChanged drops updates that leave the specification as it was. After a watch was interrupted, an object that was
// deleted and created again shows as one update, perhaps with the same generation. controller-runtime's
// GenerationChangedPredicate drops that, and its controller never sees the new object.
func SpecChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID()
	}}
}
