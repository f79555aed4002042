package simulator

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// done reports whether all groups are ready and the rollout is complete.
func (o *observation) done(set *api.LeaderWorkerSet, leaders *appsv1.StatefulSet, newest *revision) bool {
	l := resolve(set)
	if now, _ := extentOf(leaders); leaders.Labels[api.LabelRevision] != newest.hash ||
		now != (extent{replicas: l.replicas, partition: l.partition}) {
		return false
	}
	groups := o.progress(newest.hash)
	for i := range l.replicas {
		if i >= len(groups) || !groups[i].ready || i >= l.partition && !groups[i].updated {
			return false
		}
	}
	return true
}

// report writes the status, and removes revisions that no group can still use.
func (r *setReconciler) report(ctx context.Context, set *api.LeaderWorkerSet, leaders *appsv1.StatefulSet,
	newest *revision, seen *observation,
) error {
	status := set.Status.DeepCopy()
	status.Replicas = leaders.Status.Replicas
	status.HPAPodSelector = labels.SelectorFromSet(leaderSelector(set.Name)).String()
	status.ReadyReplicas, status.UpdatedReplicas = 0, 0
	for _, group := range seen.progress(newest.hash) {
		if group.ready {
			status.ReadyReplicas++
		}
		if group.updated {
			status.UpdatedReplicas++
		}
	}
	done := seen.done(set, leaders, newest)
	if r.behaviour.Liberties.Takes(libertyMoreConditions) {
		observed := metav1.Condition{
			Type: "Observed", Status: metav1.ConditionTrue, Reason: "Seen",
			Message: "this implementation has seen it",
		}
		meta.SetStatusCondition(&status.Conditions, observed)
	}
	for _, condition := range conditions(done, seen.older(newest.hash, resolve(set).partition)) {
		condition.ObservedGeneration = set.Generation
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	if !equality.Semantic.DeepEqual(&set.Status, status) && !r.behaviour.Liberties.Takes(libertyStatusUnwritten) {
		before := set.DeepCopy()
		set.Status = *status
		if err := client.IgnoreNotFound(r.client.Status().Patch(ctx, set, client.MergeFrom(before))); err != nil {
			return fmt.Errorf("write the status of %s: %w", set.Name, err)
		}
	}
	// The StatefulSet also creates leaders of its current revision, so both of its revisions must be the newest.
	if r.behaviour.Liberties.Takes(libertyRevisionsKept) || r.behaviour.Has(faultReturnDropsShared) {
		return nil
	}
	if done && !seen.older(newest.hash, 0) && leaders.Status.CurrentRevision == leaders.Status.UpdateRevision &&
		leaders.Status.ObservedGeneration == leaders.Generation {
		return r.revisions.prune(ctx, set, newest.hash)
	}
	return nil
}

// conditions of a LeaderWorkerSet; while groups are only being created, UpdateInProgress stays unchanged.
func conditions(done, updating bool) []metav1.Condition {
	condition := func(name, reason, message string, status bool) metav1.Condition {
		c := metav1.Condition{Type: name, Reason: reason, Message: message, Status: metav1.ConditionFalse}
		if status {
			c.Status = metav1.ConditionTrue
		}
		return c
	}
	switch {
	case done:
		return []metav1.Condition{
			condition(api.ConditionAvailable, "AllGroupsReady", "every group is ready", true),
			condition(api.ConditionProgressing, "AllGroupsReady", "every group is ready", false),
			condition(api.ConditionUpdateInProgress, "AllGroupsReady", "the rolling update is complete", false),
		}
	case updating:
		return []metav1.Condition{
			condition(api.ConditionAvailable, "GroupsUpdating", "groups are being updated", false),
			condition(api.ConditionProgressing, "GroupsUpdating", "groups are being updated", true),
			condition(api.ConditionUpdateInProgress, "GroupsUpdating", "groups are being updated", true),
		}
	}
	return []metav1.Condition{
		condition(api.ConditionAvailable, "GroupsProgressing", "groups are being created", false),
		condition(api.ConditionProgressing, "GroupsProgressing", "groups are being created", true),
	}
}
