package api

import corev1 "k8s.io/api/core/v1"

// Replicas is the number of groups, with its default.
func (l *LeaderWorkerSet) Replicas() int32 {
	if l.Spec.Replicas == nil {
		return 1
	}
	return *l.Spec.Replicas
}

// Size is the number of pods of a group, with its default.
func (l *LeaderWorkerSet) Size() int32 {
	return l.Spec.LeaderWorkerTemplate.GroupSize()
}

// SubdomainPolicy is the effective policy. It is Shared if the object names none, such as an object from before the
// field existed.
func (l *LeaderWorkerSet) SubdomainPolicy() SubdomainPolicy {
	if l.Spec.NetworkConfig == nil || l.Spec.NetworkConfig.SubdomainPolicy == nil {
		return SubdomainShared
	}
	return *l.Spec.NetworkConfig.SubdomainPolicy
}

// GroupSize is the number of pods of a group, with its default.
func (t *LeaderWorkerTemplate) GroupSize() int32 {
	if t.Size == nil {
		return 1
	}
	return *t.Size
}

// Leader is the template of the leader's pod.
func (t *LeaderWorkerTemplate) Leader() *corev1.PodTemplateSpec {
	if t.LeaderTemplate != nil {
		return t.LeaderTemplate
	}
	return &t.WorkerTemplate
}
