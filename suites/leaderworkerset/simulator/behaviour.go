package simulator

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// behaviour is the requested differences of a run.
type behaviour struct{ operator.Behaviour }

func newBehaviour(variant string, faults, liberties []string) (behaviour, error) {
	choice := operator.Choice{Simulator: Name, Variants: Variants(), Faults: Faults(), Liberties: Liberties()}
	b, err := choice.Choose(variant, faults, liberties)
	return behaviour{b}, err
}

// in is the behaviour for the objects of a namespace.
func (b behaviour) in(namespace string) behaviour { return behaviour{b.In(namespace)} }

// mark is set on a leader's template whose subdomain will be overwritten.
func (b behaviour) mark(template *corev1.PodTemplateSpec, policy api.SubdomainPolicy) {
	if policy != api.SubdomainUniquePerReplica {
		return
	}
	marks := &template.Labels
	if b.Variant == VariantAnnotation {
		marks = &template.Annotations
	}
	if *marks == nil {
		*marks = map[string]string{}
	}
	(*marks)[api.KeySubdomainPolicy] = string(policy)
}

// marked is the policy with which a leader pod was created.
func (b behaviour) marked(pod *corev1.Pod) api.SubdomainPolicy {
	marks := pod.Labels
	if b.Variant == VariantAnnotation {
		marks = pod.Annotations
	}
	if marks[api.KeySubdomainPolicy] == string(api.SubdomainUniquePerReplica) {
		return api.SubdomainUniquePerReplica
	}
	return api.SubdomainShared
}
