package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// The variants of an implementation. They differ in where the rule for names is. All except CRD have the webhook, which
// also checks duplicates, parents and cycles.
const (
	// Both: in the CRD's schema and in the webhook, as the specification plans.
	Both = "both"
	// Webhook: only in the webhook. The schema requires only that there is a name.
	Webhook = "webhook"
	// CRD: only in the schema. There is no webhook.
	CRD = "crd"
	// Older: nowhere. This is the version before the rule: a name must not be empty, and the webhook checks everything
	// else.
	Older = "older"
)

// Variants lists the variants.
func Variants() []string { return []string{Both, Webhook, CRD, Older} }

// implementation is a variant with faults.
type implementation struct {
	variant string
	faults  fault.Set
	// liberties are differences that the specification allows.
	liberties liberty.Set
}

func newImplementation(variant string, names, liberties []string) (implementation, error) {
	if variant == "" {
		variant = Both
	}
	if !slices.Contains(Variants(), variant) {
		return implementation{}, fmt.Errorf("start the simulator %s: unknown variant %q; known: %s", Name,
			variant, strings.Join(Variants(), ", "))
	}
	faults, err := fault.NewSet(names, Faults())
	if err != nil {
		return implementation{}, fmt.Errorf("start the simulator %s: %w", Name, err)
	}
	taken, err := liberty.NewSet(liberties, Liberties())
	if err != nil {
		return implementation{}, fmt.Errorf("start the simulator %s: %w", Name, err)
	}
	if variant == Older {
		// The other bugs are about the rule, which this variant does not have yet.
		faults = faults.Only(crdNeverUpgraded)
	}
	return implementation{variant: variant, faults: faults, liberties: taken}, nil
}

// hasWebhook reports whether the variant has a validating webhook.
func (i implementation) hasWebhook() bool { return i.variant != CRD }

// ruleInWebhook reports whether the webhook checks names.
func (i implementation) ruleInWebhook() bool { return i.variant == Both || i.variant == Webhook }

// ruleInSchema reports whether the schema checks names.
func (i implementation) ruleInSchema() bool { return i.variant == Both || i.variant == CRD }
