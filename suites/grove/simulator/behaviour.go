package simulator

import (
	"errors"

	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
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

// dialect is how configurations are read.
func (b behaviour) dialect(supported []string) config.Dialect {
	return config.Dialect{Supported: supported, Upstream: b.Variant == VariantDefault}
}

// unnamedFollow reports whether a clique without schedulerName can be combined with any other.
func (b behaviour) unnamedFollow() bool {
	return b.Variant == VariantUnnamedFollow || b.Has(faultEmptyNamesIgnored)
}

func (b behaviour) reasonPending() string {
	if b.Has(faultUpstreamReasons) {
		return "PodGangPodsCreationPending"
	}
	return scheduler.ReasonPodsPending
}

func (b behaviour) reasonReady() string {
	if b.Has(faultUpstreamReasons) {
		return "PodGangPodsCreated"
	}
	return scheduler.ReasonReady
}

// reworded is the error with which the operator does not start, with a liberty in other words.
func (b behaviour) reworded(err error) error {
	if err != nil && b.Liberties.Takes(libertyOtherErrors) {
		return errors.New(liberty.Said)
	}
	return err
}
