package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
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
		b.variant = VariantKube
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

// dialect is how configurations are read.
func (b behaviour) dialect(supported []string) config.Dialect {
	return config.Dialect{Supported: supported, Upstream: b.variant == VariantDefault}
}

func (b behaviour) reasonPending() string {
	if b.has(faultUpstreamReasons) {
		return "PodGangPodsCreationPending"
	}
	return scheduler.ReasonPodsPending
}

func (b behaviour) reasonReady() string {
	if b.has(faultUpstreamReasons) {
		return "PodGangPodsCreated"
	}
	return scheduler.ReasonReady
}
