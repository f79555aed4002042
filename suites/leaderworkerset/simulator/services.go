package simulator

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// labelPurpose is a label of Services that only a liberty sets.
const labelPurpose = "app.kubernetes.io/component"

// headless is a Service without its own address: it only provides the names of its pods, even before they are ready.
func (b behaviour) headless(set *api.LeaderWorkerSet, name string, selector map[string]string,
	owner *metav1.OwnerReference,
) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: set.Namespace,
			Labels: map[string]string{api.LabelName: set.Name},
		},
		Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true, Selector: selector},
	}
	if b.Liberties.Takes(libertyServicePorts) {
		service.Labels[labelPurpose] = "names"
		service.Spec.Ports = []corev1.ServicePort{{Name: "any", Port: 1}}
	}
	if owner != nil {
		service.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return service
}

// sharedService is the one Service of all groups.
func (b behaviour) sharedService(set *api.LeaderWorkerSet) *corev1.Service {
	owner := metav1.NewControllerRef(set, api.GroupVersion.WithKind(api.Kind))
	if b.Has(faultSharedUnowned) {
		owner = nil
	}
	service := b.headless(set, set.Name, map[string]string{api.LabelName: set.Name}, owner)
	if b.Has(faultSharedSelectsLeaders) {
		service.Spec.Selector[api.LabelWorkerIndex] = "0"
	}
	service.Spec.PublishNotReadyAddresses = !b.Has(faultSharedOnlyReady)
	if b.Has(faultSharedHasClusterIP) {
		addClusterIP(service)
	}
	return service
}

// addClusterIP makes a Service one with its own address, which is always a fault.
func addClusterIP(service *corev1.Service) {
	service.Spec.ClusterIP = ""
	service.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}}
}

// replicaService is the Service of one group. The group's leader owns it, so that it is deleted with the leader.
func (b behaviour) replicaService(set *api.LeaderWorkerSet, leader *corev1.Pod) *corev1.Service {
	index := leader.Labels[api.LabelGroupIndex]
	name, owner := leader.Name, metav1.NewControllerRef(leader, corev1.SchemeGroupVersion.WithKind("Pod"))
	selector := map[string]string{api.LabelName: set.Name, api.LabelGroupIndex: index}
	if b.Has(faultServiceNamedByIndex) {
		name = set.Name + "-group-" + index
	}
	if b.Liberties.Takes(libertyMoreSelectors) {
		selector[api.LabelGroupKey] = leader.Labels[api.LabelGroupKey]
	}
	if b.Has(faultSelectorWithoutName) {
		delete(selector, api.LabelName)
	}
	if b.Has(faultServiceOwnedBySet) {
		owner = metav1.NewControllerRef(set, api.GroupVersion.WithKind(api.Kind))
	}
	service := b.headless(set, name, selector, owner)
	if b.Has(faultReplicaHasClusterIP) {
		addClusterIP(service)
	}
	return service
}
