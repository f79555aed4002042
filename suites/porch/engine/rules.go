// Package engine has Porch's validation and business rules, as its specification states them: what may be created and
// changed, and with which messages the rest is rejected. It does not know API servers or repositories, and has bugs
// and other readings on request.
package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// Rules judge requests for package revisions.
type Rules struct {
	faults  fault.Set
	variant Variant
}

// NewRules returns the rules with faults, which are bugs, and a variant, which is a reading of what the specification
// leaves open; "" is the reading that this project has chosen everywhere.
func NewRules(faults []string, variant string) (Rules, error) {
	r := Rules{variant: Variant(variant)}
	if variant != "" && !slices.Contains(Variants(), r.variant) {
		return Rules{}, fmt.Errorf("no variant is called %q; the variants: %s", variant, join(Variants()))
	}
	var err error
	r.faults, err = fault.NewSet(faults, Faults())
	return r, err
}

// Has reports whether the rules have a fault.
func (r Rules) Has(bug string) bool { return r.faults.Has(bug) }

// In returns the rules for the objects of a namespace.
func (r Rules) In(namespace string) Rules {
	r.faults = r.faults.In(namespace)
	return r
}

// Reads reports whether the rules follow a reading.
func (r Rules) Reads(reading Variant) bool { return r.variant == reading || r.variant == OtherReadings }

// StoresAnything reports whether a revision can be stored with a lifecycle that does not exist.
func (r Rules) StoresAnything() bool { return r.variant == CorruptStore }

// Revision is a package revision that exists in the namespace.
type Revision struct {
	// Name of the PackageRevision.
	Name string
	// Spec of the PackageRevision, as it is stored.
	Spec v1alpha1.PackageRevisionSpec
}

func join[S ~string](names []S) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
