package simulator

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// newLeaderSet is the StatefulSet of a LeaderWorkerSet's leaders. Its serviceName is the same under every policy: it
// applies to all leaders, and it is immutable.
func (b behaviour) newLeaderSet(set *api.LeaderWorkerSet, r *revision) *appsv1.StatefulSet {
	serviceName := set.Name
	if b.Has(faultLeaderSetServiceName) && r.Policy == api.SubdomainUniquePerReplica {
		serviceName = leaderName(set.Name, 0)
	}
	leaders := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name, Namespace: set.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, api.GroupVersion.WithKind(api.Kind))},
		},
		Spec: appsv1.StatefulSetSpec{
			ServiceName:         serviceName,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: leaderSelector(set.Name)},
		},
	}
	b.setTemplate(leaders, set, r)
	l := resolve(set)
	setExtent(leaders, l, extent{replicas: l.replicas, partition: l.partition})
	return leaders
}

// setTemplate sets the template of the leaders to a revision.
func (b behaviour) setTemplate(leaders *appsv1.StatefulSet, set *api.LeaderWorkerSet, r *revision) {
	if leaders.Labels == nil {
		leaders.Labels = map[string]string{}
	}
	leaders.Labels[api.LabelName] = set.Name
	leaders.Labels[api.LabelRevision] = r.hash
	leaders.Spec.Template = *r.Template.Leader().DeepCopy()
	template := &leaders.Spec.Template
	addMetadata(template, leaderSelector(set.Name),
		map[string]string{api.AnnotationSize: strconv.Itoa(int(r.Template.GroupSize()))})
	template.Labels[api.LabelRevision] = r.hash
	b.mark(template, r.Policy)
}

// addMetadata adds labels and annotations to a template.
func addMetadata(template *corev1.PodTemplateSpec, labels, annotations map[string]string) {
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	maps.Copy(template.Labels, labels)
	maps.Copy(template.Annotations, annotations)
}

// setExtent sets the number of leaders, and which are updated. Only the partition decides which groups may be replaced,
// so the StatefulSet's own limit is set to a value that has no effect, if the cluster has that field.
func setExtent(leaders *appsv1.StatefulSet, l limits, e extent) {
	if leaders.Annotations == nil {
		leaders.Annotations = map[string]string{}
	}
	leaders.Annotations[api.AnnotationReplicas] = strconv.Itoa(l.replicas)
	replicas, partition := int32(e.replicas), int32(e.partition)
	leaders.Spec.Replicas = &replicas
	all := intstr.FromInt32(max(1, replicas))
	leaders.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
		Type:          appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: &all},
	}
}

// extentOf is the current extent of the leaders, and the number of replicas for which it was set.
func extentOf(leaders *appsv1.StatefulSet) (extent, int) {
	e := extent{replicas: 1}
	if leaders.Spec.Replicas != nil {
		e.replicas = int(*leaders.Spec.Replicas)
	}
	if update := leaders.Spec.UpdateStrategy.RollingUpdate; update != nil && update.Partition != nil {
		e.partition = int(*update.Partition)
	}
	replicas, err := strconv.Atoi(leaders.Annotations[api.AnnotationReplicas])
	if err != nil {
		replicas = e.replicas
	}
	return e, replicas
}
