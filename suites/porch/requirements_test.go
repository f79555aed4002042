package porch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/porch"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

// Each core requirement has a fault that breaks it, and each fault breaks requirements that there are.
func TestFaultsAreOfRequirements(t *testing.T) {
	requirements, err := porch.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, bug := range engine.Bugs() {
		if len(bug.Breaks) == 0 || bug.Sentence == "" {
			t.Errorf("fault %s: %v, %q", bug.Fault, bug.Breaks, bug.Sentence)
		}
		for _, id := range bug.Breaks {
			broken[id] = true
			if !slices.ContainsFunc(requirements, func(r suites.Requirement) bool { return r.ID == id }) {
				t.Errorf("fault %s breaks %s, which is no requirement", bug.Fault, id)
			}
		}
	}
	for _, r := range requirements {
		if r.Level == suites.Core && !broken[r.ID] {
			t.Errorf("no fault breaks %s: %s", r.ID, r.Statement)
		}
	}
}

// Each decision names the variant that reads the specification otherwise.
func TestDecisionsNameTheirVariants(t *testing.T) {
	requirements, err := porch.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, variant := range engine.Variants() {
		for _, r := range requirements {
			if strings.HasPrefix(r.ID, "PORCH-AMB") && strings.Contains(r.Statement, "variant "+string(variant)+".") {
				named++
			}
		}
	}
	if named != 6 || len(engine.Variants()) != 6 {
		t.Errorf("%d of %d variants are named by a decision, want 6", named, len(engine.Variants()))
	}
}
