package simulator

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
)

// gangName is the name of a replica's PodGang.
func gangName(set string, index int) string { return fmt.Sprintf("%s-%d", set, index) }

// cliqueName is the name of a PodClique of a replica.
func cliqueName(set string, index int, clique string) string {
	return gangName(set, index) + "-" + clique
}

// podName is the name of a pod of a clique.
func podName(clique string, index int) string { return fmt.Sprintf("%s-%d", clique, index) }

// replica is one replica of a PodCliqueSet. It has one PodGang.
type replica struct {
	set   *api.PodCliqueSet
	index int
	// backend is the backend of the gang. It never changes after the gang's creation.
	backend string
	// pods are the pods that exist, by clique.
	pods map[string][]corev1.Pod
}

func (r replica) gangName() string { return gangName(r.set.Name, r.index) }

func (r replica) cliqueName(i int) string {
	return cliqueName(r.set.Name, r.index, r.set.Spec.Template.Cliques[i].Name)
}

func (r replica) labels() map[string]string {
	return map[string]string{
		api.LabelManagedBy: api.ManagedBy, api.LabelPartOf: r.set.Name, api.LabelReplicaIndex: strconv.Itoa(r.index),
		api.LabelSchedulerName: r.backend,
	}
}

func (r replica) owner() []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(r.set, api.GroupVersion.WithKind(api.KindPodCliqueSet))}
}

// gang returns the replica's PodGang with the given references.
func (r replica) gang(references func(clique int) []scheduler.PodReference) *scheduler.PodGang {
	template := &r.set.Spec.Template
	gang := &scheduler.PodGang{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.set.Namespace, Name: r.gangName(), Labels: r.labels(),
			OwnerReferences: r.owner(),
		},
		Spec: scheduler.PodGangSpec{
			PriorityClassName:  template.PriorityClassName,
			TopologyConstraint: pack(template.TopologyConstraint),
		},
	}
	for i := range template.Cliques {
		clique := &template.Cliques[i]
		gang.Spec.PodGroups = append(gang.Spec.PodGroups, scheduler.PodGroup{
			Name: r.cliqueName(i), PodReferences: references(i), MinReplicas: clique.Spec.MinReplicas(),
			TopologyConstraint: pack(clique.TopologyConstraint),
		})
	}
	return gang
}

func pack(c *api.TopologyConstraint) *scheduler.TopologyConstraint {
	if c == nil || c.Pack == nil {
		return nil
	}
	return &scheduler.TopologyConstraint{PackConstraint: &scheduler.PackConstraint{
		Required:  c.Pack.Required,
		Preferred: c.Pack.Preferred,
	}}
}

// clique returns the i-th PodClique of the replica.
func (r replica) clique(i int) *api.PodClique {
	template := &r.set.Spec.Template.Cliques[i]
	labels := maps.Clone(template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, r.labels())
	labels[api.LabelPodGang] = r.gangName()
	clique := &api.PodClique{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.set.Namespace, Name: r.cliqueName(i), Labels: labels, Annotations: maps.Clone(template.Annotations),
			OwnerReferences: r.owner(),
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if clique.Spec.PodSpec.Containers == nil {
		clique.Spec.PodSpec.Containers = []corev1.Container{} // null is not a list
	}
	return clique
}

// none references no pod.
func none(int) []scheduler.PodReference { return []scheduler.PodReference{} }

// present references the pods that exist.
func (r replica) present(i int) []scheduler.PodReference {
	references := []scheduler.PodReference{}
	for _, pod := range r.pods[r.cliqueName(i)] {
		references = append(references, scheduler.PodReference{Namespace: pod.Namespace, Name: pod.Name})
	}
	return references
}

// future references the pods that will be created.
func (r replica) future(i int) []scheduler.PodReference {
	references := []scheduler.PodReference{}
	for n := range int(r.set.Spec.Template.Cliques[i].Spec.Replicas) {
		references = append(references, scheduler.PodReference{Namespace: r.set.Namespace, Name: podName(r.cliqueName(i), n)})
	}
	return references
}

// missing is the number of pods that do not exist yet, or that have no label with their gang.
func (r replica) missing() int {
	missing := 0
	for i := range r.set.Spec.Template.Cliques {
		missing += int(r.set.Spec.Template.Cliques[i].Spec.Replicas)
		for _, pod := range r.pods[r.cliqueName(i)] {
			if pod.Labels[api.LabelPodGang] == r.gangName() {
				missing--
			}
		}
	}
	return missing
}
