package simulator

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// newWorkerSet is the StatefulSet of a group's workers. Its serviceName gives them the subdomain of their leader.
func (b behaviour) newWorkerSet(set *api.LeaderWorkerSet, leader *corev1.Pod, of *revision) *appsv1.StatefulSet {
	group := map[string]string{
		api.LabelName:       set.Name,
		api.LabelGroupIndex: leader.Labels[api.LabelGroupIndex],
		api.LabelGroupKey:   leader.Labels[api.LabelGroupKey],
	}
	labels := maps.Clone(group)
	labels[api.LabelRevision] = of.hash
	size := of.Template.GroupSize()
	annotations := map[string]string{
		api.AnnotationSize:       strconv.Itoa(int(size)),
		api.AnnotationLeaderName: leader.Name,
	}
	if tpuContainer(&leader.Spec) != nil {
		annotations[api.AnnotationLeaderRequestsTPUs] = "true"
	}
	template := of.Template.WorkerTemplate.DeepCopy()
	addMetadata(template, labels, annotations)
	workers := size - 1
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: leader.Name, Namespace: leader.Namespace, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(leader,
				corev1.SchemeGroupVersion.WithKind("Pod"))},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            &workers,
			Ordinals:            &appsv1.StatefulSetOrdinals{Start: 1},
			ServiceName:         b.workerSubdomain(set, leader, of),
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: group},
			Template:            *template,
		},
	}
}

func (b behaviour) workerSubdomain(set *api.LeaderWorkerSet, leader *corev1.Pod, of *revision) string {
	policy := of.Policy
	switch {
	case b.Has(faultWorkersFromLiveSpec):
		policy = set.SubdomainPolicy()
	case b.Has(faultWorkersUnderLeader):
		policy = api.SubdomainUniquePerReplica
	case b.Has(faultWorkersInSharedDomain):
		policy = api.SubdomainShared
	}
	if policy == api.SubdomainUniquePerReplica {
		return leader.Name
	}
	return set.Name
}
