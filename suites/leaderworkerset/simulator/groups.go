package simulator

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// observation is the current state of a LeaderWorkerSet's groups.
type observation struct {
	leaders map[int]*corev1.Pod
	workers map[string]*appsv1.StatefulSet // by name, which is also the leader's
}

// observe reads the groups of a LeaderWorkerSet.
func observe(ctx context.Context, c client.Reader, set *api.LeaderWorkerSet) (*observation, error) {
	var leaders corev1.PodList
	if err := c.List(ctx, &leaders, client.InNamespace(set.Namespace),
		client.MatchingLabels(leaderSelector(set.Name))); err != nil {
		return nil, fmt.Errorf("list the leaders of %s: %w", set.Name, err)
	}
	var workers appsv1.StatefulSetList
	if err := c.List(ctx, &workers, client.InNamespace(set.Namespace),
		client.MatchingLabels{api.LabelName: set.Name}); err != nil {
		return nil, fmt.Errorf("list the StatefulSets of %s: %w", set.Name, err)
	}
	o := &observation{leaders: map[int]*corev1.Pod{}, workers: map[string]*appsv1.StatefulSet{}}
	for i := range leaders.Items {
		pod := &leaders.Items[i]
		if parent, index, err := ordinal(pod.Name); err == nil && parent == set.Name {
			o.leaders[index] = pod
		}
	}
	for i := range workers.Items {
		o.workers[workers.Items[i].Name] = &workers.Items[i]
	}
	return o, nil
}

// progress of the groups up to the highest index, compared with the newest revision.
func (o *observation) progress(newest string) []progress {
	highest := -1
	for index := range o.leaders {
		highest = max(highest, index)
	}
	groups := make([]progress, highest+1)
	for index, leader := range o.leaders {
		groups[index] = progress{ready: o.ready(leader), updated: leader.Labels[api.LabelRevision] == newest &&
			leader.DeletionTimestamp == nil}
	}
	return groups
}

// older reports whether any leader, from a group on, has another revision than the newest.
func (o *observation) older(newest string, from int) bool {
	for index, leader := range o.leaders {
		if index >= from && leader.Labels[api.LabelRevision] != newest {
			return true
		}
	}
	return false
}

func (o *observation) ready(leader *corev1.Pod) bool {
	if leader.DeletionTimestamp != nil || !podReady(leader) {
		return false
	}
	if leader.Annotations[api.AnnotationSize] == "1" {
		return true
	}
	workers := o.workers[leader.Name]
	return workers != nil && metav1.IsControlledBy(workers, leader) && workers.DeletionTimestamp == nil &&
		workers.Status.ObservedGeneration >= workers.Generation &&
		workers.Spec.Replicas != nil && workers.Status.AvailableReplicas == *workers.Spec.Replicas
}

func podReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
