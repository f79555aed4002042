package simulator

import (
	"context"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// setReconciler creates the shared Service and the StatefulSet of the leaders of a LeaderWorkerSet.
type setReconciler struct {
	client    client.Client
	live      client.Reader // without the cache
	events    events.EventRecorder
	behaviour behaviour
	revisions *revisions
}

// in is the reconciler for the objects of a namespace.
func (r *setReconciler) in(namespace string) *setReconciler {
	there := *r
	there.behaviour, there.revisions = r.behaviour.in(namespace), r.revisions.in(namespace)
	return &there
}

// Reconcile implements reconcile.Reconciler.
func (r *setReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r = r.in(request.Namespace)
	var set api.LeaderWorkerSet
	if err := r.client.Get(ctx, request.NamespacedName, &set); err != nil || set.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	err := r.reconcile(ctx, &set)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: 10 * time.Millisecond}, nil
	}
	return r.behaviour.result(ctx, r.events, &set, err)
}

func (r *setReconciler) reconcile(ctx context.Context, set *api.LeaderWorkerSet) error {
	newest, err := r.revisions.ensure(ctx, set)
	if err != nil {
		return err
	}
	// The leaders' StatefulSet is read without the cache: with a stale partition, this could raise the partition again,
	// and replace new pods by old ones.
	leaders, err := r.leaderSet(ctx, set)
	if err != nil {
		return err
	}
	seen, err := observe(ctx, r.client, set)
	if err != nil {
		return err
	}
	// Before the rollout: the shared Service must exist before the first pod that needs it.
	if err := r.ensureSharedService(ctx, set, newest, leaders, seen); err != nil {
		return err
	}
	if leaders == nil {
		leaders = r.behaviour.newLeaderSet(set, newest)
		if err := r.client.Create(ctx, leaders); err != nil {
			return fmt.Errorf("create the StatefulSet of the leaders of %s: %w", set.Name, err)
		}
		return r.report(ctx, set, leaders, newest, seen)
	}
	if err := r.rollOut(ctx, set, newest, leaders, seen); err != nil {
		return err
	}
	return r.report(ctx, set, leaders, newest, seen)
}

// leaderSet is the StatefulSet of the leaders, or nil if there is none.
func (r *setReconciler) leaderSet(ctx context.Context, set *api.LeaderWorkerSet) (*appsv1.StatefulSet, error) {
	leaders := &appsv1.StatefulSet{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(set), leaders)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the StatefulSet of the leaders of %s: %w", set.Name, err)
	case !metav1.IsControlledBy(leaders, set):
		return nil, &occupiedError{object: leaders}
	}
	return leaders, nil
}

// rollOut brings the leaders closer to the newest revision and the number of replicas, as far as the limits currently
// allow.
func (r *setReconciler) rollOut(ctx context.Context, set *api.LeaderWorkerSet, newest *revision,
	leaders *appsv1.StatefulSet, seen *observation,
) error {
	now, replicas := extentOf(leaders)
	l, start, surging := resolve(set), now, max(0, now.replicas-replicas)
	changed := leaders.Labels[api.LabelRevision] != newest.hash
	if changed {
		if err := r.beforeRollout(ctx, set, newest); err != nil {
			return err
		}
		r.behaviour.setTemplate(leaders, set, newest)
		start, surging = begin(now), math.MaxInt
	} else if err := r.beforeScaling(ctx, set, newest, replicas); err != nil {
		return err
	}
	to := next(l, start, surging, seen.progress(newest.hash))
	if r.behaviour.Has(faultSurgeStays) {
		to.replicas = max(to.replicas, now.replicas)
	}
	if !changed && to == now && replicas == l.replicas {
		return nil
	}
	setExtent(leaders, l, to)
	if err := r.client.Update(ctx, leaders); err != nil {
		return fmt.Errorf("update the StatefulSet of the leaders of %s: %w", set.Name, err)
	}
	return nil
}

// ensureSharedService creates the shared Service while any group needs it. It is never deleted: clients may still use
// its name.
func (r *setReconciler) ensureSharedService(ctx context.Context, set *api.LeaderWorkerSet, newest *revision,
	leaders *appsv1.StatefulSet, seen *observation,
) error {
	want := r.behaviour.sharedService(set)
	var have corev1.Service
	err := r.client.Get(ctx, client.ObjectKeyFromObject(want), &have)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Service %s: %w", want.Name, err)
	}
	there := err == nil
	drop, err := r.dropsSharedService(ctx, set, newest, leaders, seen)
	if err != nil {
		return err
	}
	switch {
	case there && !owned(want, &have):
		return &occupiedError{object: &have}
	case there && drop:
		return client.IgnoreNotFound(r.client.Delete(ctx, &have))
	case there || drop || !r.needsSharedService(newest, seen):
		return nil
	}
	return createOwned(ctx, r.client, r.live, want)
}

func (r *setReconciler) needsSharedService(newest *revision, seen *observation) bool {
	shared, unique := newest.Policy == api.SubdomainShared, false
	for _, leader := range seen.leaders {
		if r.behaviour.marked(leader) == api.SubdomainUniquePerReplica {
			unique = true
		} else {
			shared = true
		}
	}
	switch {
	case r.behaviour.Has(faultSharedAfterRollout):
		return shared && !unique
	case r.behaviour.Has(faultSharedAlways):
		return true
	}
	return shared
}
