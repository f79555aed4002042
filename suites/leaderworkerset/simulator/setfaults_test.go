package simulator

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// The fault depends only on the policies that were written, not on how far a rollout has come.
func TestReturnDropsShared(t *testing.T) {
	for policies, want := range map[string]bool{
		"UniquePerReplica":                                          false,
		"Shared UniquePerReplica":                                   false,
		"UniquePerReplica Shared":                                   false,
		"none UniquePerReplica Shared":                              false,
		"UniquePerReplica Shared UniquePerReplica":                  true,
		"UniquePerReplica none UniquePerReplica":                    true,
		"UniquePerReplica Shared UniquePerReplica Shared":           false,
		"UniquePerReplica Shared UniquePerReplica UniquePerReplica": true,
	} {
		t.Run(policies, func(t *testing.T) {
			set := newSet("my-lws", 1, 1, 0)
			set.Namespace, set.UID = "ns", "1"
			b, err := newBehaviour("", []string{faultReturnDropsShared}, nil)
			golden.Must(t, err)
			r := &setReconciler{behaviour: b, revisions: &revisions{client: stored(t, set), behaviour: b}}
			var newest *revision
			for _, policy := range strings.Fields(policies) {
				set.Spec.NetworkConfig = network(policy)
				newest, err = r.revisions.ensure(t.Context(), set)
				golden.Must(t, err)
			}
			if got, err := r.dropsSharedService(t.Context(), set, newest, nil, nil); err != nil || got != want {
				t.Errorf("drops: %v, %v, want %v", got, err, want)
			}
		})
	}
}

// As long as a partition keeps groups from the update, the transition is not done.
func TestDroppedWhenUnique(t *testing.T) {
	b, err := newBehaviour("", []string{faultSharedDroppedWhenUnique}, nil)
	golden.Must(t, err)
	for partition, want := range map[int32]bool{0: true, 1: false} {
		set := newSet("my-lws", 1, 1, 0)
		set.Spec.RolloutStrategy.RollingUpdateConfiguration.Partition = &partition
		newest := &revision{Policy: api.SubdomainUniquePerReplica, hash: "new"}
		leader := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: "my-lws-0", Labels: map[string]string{api.LabelRevision: "new"},
			Annotations: map[string]string{api.AnnotationSize: "1"},
		}}
		leader.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		leaders := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{api.LabelRevision: "new"}}}
		leaders.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition}
		seen := &observation{leaders: map[int]*corev1.Pod{0: leader}}
		if !seen.done(set, leaders, newest) {
			t.Errorf("partition %d: the rollout is not complete", partition)
		}
		r := &setReconciler{behaviour: b}
		if got, err := r.dropsSharedService(t.Context(), set, newest, leaders, seen); err != nil || got != want {
			t.Errorf("partition %d: drops: %v, %v, want %v", partition, got, err, want)
		}
	}
}
