// Package engine is Porch's validation and business rules, as its specification states them: what may be created and changed, and with which
// words the rest is refused. It knows nothing of API servers or repositories, and has bugs and other readings on request.
package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// Rules judge what is asked of package revisions.
type Rules struct {
	faults  map[Fault]bool
	variant Variant
}

// NewRules returns the rules with faults, which are bugs, and in a variant, which is a reading of what the specification leaves open; "" is the
// reading that this project has chosen everywhere.
func NewRules(faults []string, variant string) (Rules, error) {
	r := Rules{faults: map[Fault]bool{}, variant: Variant(variant)}
	if variant != "" && !slices.Contains(Variants(), r.variant) {
		return Rules{}, fmt.Errorf("no variant is called %q; the variants: %s", variant, join(Variants()))
	}
	known := Faults()
	for _, name := range faults {
		if !slices.Contains(known, Fault(name)) {
			return Rules{}, fmt.Errorf("no fault is called %q; the faults: %s", name, join(known))
		}
		r.faults[Fault(name)] = true
	}
	return r, nil
}

// Has says whether the rules have a fault.
func (r Rules) Has(fault Fault) bool { return r.faults[fault] }

// Reads says whether the rules follow a variant.
func (r Rules) Reads(variant Variant) bool { return r.variant == variant || r.variant == OtherReadings }

// Revision is a package revision that exists in the namespace.
type Revision struct {
	// Name of its object.
	Name string
	// Spec of it, as it is stored.
	Spec v1alpha1.PackageRevisionSpec
}

func join[S ~string](names []S) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
