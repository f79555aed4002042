package simulator

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// behaviour is what a run was asked to do differently.
type behaviour struct {
	variant string
	faults  fault.Set
	// liberties are what is different, but right.
	liberties liberty.Set
}

func newBehaviour(variant string, faults, liberties []string) (behaviour, error) {
	b := behaviour{variant: variant}
	if variant == "" {
		b.variant = VariantLabel
	}
	if !slices.Contains(Variants(), b.variant) {
		return b, fmt.Errorf("unknown variant %q of %s: want one of %s", variant, Name, strings.Join(Variants(), ", "))
	}
	var err error
	if b.faults, err = fault.NewSet(faults, Faults()); err != nil {
		return b, fmt.Errorf("start the simulator %s: %w", Name, err)
	}
	if b.liberties, err = liberty.NewSet(liberties, Liberties()); err != nil {
		return b, fmt.Errorf("start the simulator %s: %w", Name, err)
	}
	return b, nil
}

// in is the behaviour towards what is in a namespace.
func (b behaviour) in(namespace string) behaviour {
	b.faults = b.faults.In(namespace)
	return b
}

// has tells whether a fault was asked for.
func (b behaviour) has(name string) bool { return b.faults.Has(name) }

// mark says on a leader's template that its subdomain is to be overwritten.
func (b behaviour) mark(template *corev1.PodTemplateSpec, policy api.SubdomainPolicy) {
	if policy != api.SubdomainUniquePerReplica {
		return
	}
	marks := &template.Labels
	if b.variant == VariantAnnotation {
		marks = &template.Annotations
	}
	if *marks == nil {
		*marks = map[string]string{}
	}
	(*marks)[api.KeySubdomainPolicy] = string(policy)
}

// marked is the policy by which a leader pod was made.
func (b behaviour) marked(pod *corev1.Pod) api.SubdomainPolicy {
	marks := pod.Labels
	if b.variant == VariantAnnotation {
		marks = pod.Annotations
	}
	if marks[api.KeySubdomainPolicy] == string(api.SubdomainUniquePerReplica) {
		return api.SubdomainUniquePerReplica
	}
	return api.SubdomainShared
}
