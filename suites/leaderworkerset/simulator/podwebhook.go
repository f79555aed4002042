package simulator

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// podDefaulter sets the fields of a group's pods that their StatefulSets cannot set: those that depend on the pod's
// name.
type podDefaulter struct {
	behaviour behaviour
	reader    client.Reader // only for faults
}

// member is a pod's place in its group.
type member struct {
	set, namespace string
	leader         string // name of the group's leader
	group, worker  int
	size           int
	// address is the subdomain of the leader's address, where it is not the pod's own, which is a fault.
	address string
}

// Default implements admission.Defaulter.
func (d *podDefaulter) Default(ctx context.Context, pod *corev1.Pod) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	d = &podDefaulter{d.behaviour.in(request.Namespace), d.reader}
	m, err := place(pod, request.Namespace)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	pod.Labels[api.LabelGroupIndex] = strconv.Itoa(m.group)
	pod.Labels[api.LabelWorkerIndex] = strconv.Itoa(m.worker)
	pod.Labels[api.LabelGroupKey] = groupKey(m.namespace, m.leader)
	if d.behaviour.Has(faultVariablesFirst) {
		d.addVariables(pod, m)
	}
	overwrite, err := d.overwrites(ctx, pod, m)
	if err != nil {
		return err
	}
	if overwrite {
		pod.Spec.Subdomain = pod.Name
	}
	if d.behaviour.Has(faultAddressByLiveSpec) {
		if m.address, err = d.newest(ctx, m); err != nil {
			return err
		}
	}
	if !d.behaviour.Has(faultVariablesFirst) {
		d.addVariables(pod, m)
	}
	return nil
}

// place reads a pod's place from its name and metadata, which its StatefulSet has set.
func place(pod *corev1.Pod, namespace string) (member, error) {
	m := member{set: pod.Labels[api.LabelName], namespace: namespace, size: 1}
	parent, number, err := ordinal(pod.Name)
	if err != nil {
		return m, err
	}
	m.leader, m.group = pod.Name, number
	if !isLeader(pod) {
		m.leader, m.worker = parent, number
		if _, m.group, err = ordinal(parent); err != nil {
			return m, err
		}
	}
	if size, given := pod.Annotations[api.AnnotationSize]; given {
		if m.size, err = strconv.Atoi(size); err != nil {
			return m, fmt.Errorf("pod %q has annotation %s: %q, want the number of pods of its group", pod.Name,
				api.AnnotationSize, size)
		}
	}
	return m, nil
}

// overwrites reports whether a pod's subdomain becomes its own name.
func (d *podDefaulter) overwrites(ctx context.Context, pod *corev1.Pod, m member) (bool, error) {
	switch {
	case !isLeader(pod) && d.behaviour.Has(faultWorkersOwnSubdomain):
		return pod.Spec.Subdomain == m.leader, nil
	case !isLeader(pod):
		return false, nil
	case d.behaviour.Has(faultSubdomainNotOverwritten):
		return false, nil
	case d.behaviour.Has(faultOverwritesAlways):
		return true, nil
	case d.behaviour.Has(faultOverwriteByLiveSpec):
		subdomain, err := d.newest(ctx, m)
		return subdomain == m.leader, err
	}
	return d.behaviour.marked(pod) == api.SubdomainUniquePerReplica, nil
}

// newest is the subdomain of a group by the newest policy, whatever the group's revision: only faults use it.
func (d *podDefaulter) newest(ctx context.Context, m member) (string, error) {
	var set api.LeaderWorkerSet
	err := d.reader.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: m.set}, &set)
	if err == nil && set.SubdomainPolicy() == api.SubdomainUniquePerReplica {
		return m.leader, nil
	}
	return m.set, client.IgnoreNotFound(err)
}
