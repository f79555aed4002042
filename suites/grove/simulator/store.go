package simulator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// store is the API server's state, read without the cache.
type store struct {
	client.Client
	live      client.Reader
	liberties liberty.Set
}

// pods lists the pods that have a label, by name, without those that are being deleted.
func (s store) pods(ctx context.Context, namespace, label, value string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := s.live.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{label: value}); err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", value, err)
	}
	pods := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
}

// reworded is a condition with a liberty's message.
func (s store) reworded(condition metav1.Condition) metav1.Condition {
	if s.liberties.Takes(libertyOtherMessages) {
		condition.Message = liberty.Said
	}
	return condition
}

// setCondition writes one condition of a PodGang, and keeps the others.
func (s store) setCondition(ctx context.Context, key client.ObjectKey, condition metav1.Condition) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var gang scheduler.PodGang
		if err := s.live.Get(ctx, key, &gang); err != nil {
			return client.IgnoreNotFound(err)
		}
		if condition.Type == scheduler.ConditionInitialized && !s.liberties.Takes(libertyNoPhase) {
			gang.Status.Phase = "Pending"
		}
		changed := meta.SetStatusCondition(&gang.Status.Conditions, s.reworded(condition))
		if s.liberties.Takes(libertyMoreConditions) {
			observed := metav1.Condition{
				Type: "Observed", Status: metav1.ConditionTrue, Reason: "Seen",
				Message: "this implementation has seen it",
			}
			changed = meta.SetStatusCondition(&gang.Status.Conditions, observed) || changed
		}
		if !changed {
			return nil
		}
		return s.Status().Update(ctx, &gang)
	})
	if err != nil {
		return fmt.Errorf("set the condition %s of PodGang %s: %w", condition.Type, key.Name, err)
	}
	return nil
}

// cliquesOfGang maps a PodGang to its PodCliques.
func (s store) cliquesOfGang(ctx context.Context, gang client.Object) []reconcile.Request {
	var list api.PodCliqueList
	if err := s.List(ctx, &list, client.InNamespace(gang.GetNamespace()),
		client.MatchingLabels{api.LabelPodGang: gang.GetName()}); err != nil {
		return nil
	}
	var all []reconcile.Request
	for i := range list.Items {
		all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return all
}
