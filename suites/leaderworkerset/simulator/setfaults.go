package simulator

import (
	"context"
	"math"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// started is different in each process. Only a fault uses it.
var started = strconv.FormatInt(time.Now().UnixNano(), 36)

// beforeRollout applies the faults at the start of a rollout; without a fault it does nothing.
func (r *setReconciler) beforeRollout(ctx context.Context, set *api.LeaderWorkerSet, newest *revision) error {
	if r.behaviour.Has(faultSharedRenewed) {
		return client.IgnoreNotFound(r.client.Delete(ctx, r.behaviour.sharedService(set)))
	}
	if r.behaviour.Has(faultServicesDroppedAtStart) && newest.Policy == api.SubdomainShared {
		var services corev1.ServiceList
		if err := r.client.List(ctx, &services, client.InNamespace(set.Namespace),
			client.MatchingLabels{api.LabelName: set.Name}); err != nil {
			return err
		}
		for i := range services.Items {
			if metav1.IsControlledBy(&services.Items[i], set) {
				continue
			}
			if err := client.IgnoreNotFound(r.client.Delete(ctx, &services.Items[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// beforeScaling applies the faults at a change of the replicas; without a fault it does nothing.
func (r *setReconciler) beforeScaling(ctx context.Context, set *api.LeaderWorkerSet, newest *revision,
	before int,
) error {
	owner := metav1.NewControllerRef(set, api.GroupVersion.WithKind(api.Kind))
	wanted := int(set.Replicas())
	if r.behaviour.Has(faultScaleAddsServices) && newest.Policy == api.SubdomainShared {
		for i := before; i < wanted; i++ {
			name := leaderName(set.Name, i)
			if err := createOwned(ctx, r.client, r.live, r.behaviour.headless(set, name,
				map[string]string{api.LabelName: set.Name}, owner)); err != nil {
				return err
			}
		}
	}
	if r.behaviour.Has(faultScaleDownKeepsServices) {
		for i := wanted; i < before; i++ {
			var service corev1.Service
			if err := r.live.Get(ctx, client.ObjectKey{Namespace: set.Namespace, Name: leaderName(set.Name, i)},
				&service); err != nil {
				if client.IgnoreNotFound(err) != nil {
					return err
				}
				continue
			}
			service.OwnerReferences = []metav1.OwnerReference{*owner}
			if err := r.client.Update(ctx, &service); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropsSharedService reports whether the shared Service is deleted, which is always a fault.
func (r *setReconciler) dropsSharedService(ctx context.Context, set *api.LeaderWorkerSet, newest *revision,
	leaders *appsv1.StatefulSet, seen *observation,
) (bool, error) {
	switch {
	case newest.Policy != api.SubdomainUniquePerReplica:
		return false, nil
	case r.behaviour.Has(faultReturnDropsShared):
		return r.revisions.returned(ctx, set)
	case leaders == nil || resolve(set).partition > 0 || !seen.done(set, leaders, newest):
		return false, nil // with a partition, the transition is not done
	}
	return r.behaviour.Has(faultSharedDroppedWhenUnique), nil
}

// returned reports whether a LeaderWorkerSet was UniquePerReplica before it was Shared. It needs all revisions. Only a
// fault uses it.
func (r *revisions) returned(ctx context.Context, set *api.LeaderWorkerSet) (bool, error) {
	stored, err := r.list(ctx, set)
	if err != nil {
		return false, err
	}
	unique, shared := int64(math.MaxInt64), int64(0)
	for i := range stored {
		found, err := readRevision(&stored[i])
		switch {
		case err != nil:
			return false, err
		case found.Policy == api.SubdomainUniquePerReplica:
			unique = min(unique, found.number)
		default:
			shared = max(shared, found.number)
		}
	}
	return unique < shared, nil
}
