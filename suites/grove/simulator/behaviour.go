package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
)

// behaviour is what a run was asked to do differently.
type behaviour struct {
	variant string
	faults  map[string]bool
}

func newBehaviour(variant string, faults []string) (behaviour, error) {
	b := behaviour{variant: variant, faults: map[string]bool{}}
	if variant == "" {
		b.variant = VariantKube
	}
	if !slices.Contains(Variants(), b.variant) {
		return b, fmt.Errorf("unknown variant %q of %s: want one of %s", variant, Name, strings.Join(Variants(), ", "))
	}
	known := Faults()
	for _, name := range faults {
		if !slices.ContainsFunc(known, func(f Fault) bool { return f.Name == name }) {
			return b, fmt.Errorf("unknown fault %q of %s", name, Name)
		}
		b.faults[name] = true
	}
	return b, nil
}

// has tells whether a fault was asked for.
func (b behaviour) has(fault string) bool { return b.faults[fault] }

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
