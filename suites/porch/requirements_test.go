package porch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/porch"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

// Each ambiguity has a second reading. The simulator can follow it, and one scenario shows it.
func TestAmbiguitiesHaveOtherReadings(t *testing.T) {
	requirements, err := porch.Definition().Requirements()
	if err != nil {
		t.Fatal(err)
	}
	var readings []engine.Variant
	for _, r := range requirements {
		if !strings.HasPrefix(r.ID, "PORCH-AMB") {
			continue
		}
		if len(r.Variants) != 2 {
			t.Errorf("%s has the variants %v, want two", r.ID, r.Variants)
			continue
		}
		other := r.Variants[1].Name
		readings = append(readings, engine.Variant(other))
		if shown := suite().Load(t).Readings(r.ID, other); len(shown) != 1 {
			t.Errorf("%d scenarios show %s as %s, want one", len(shown), r.ID, other)
		}
	}
	if !slices.Equal(readings, engine.Readings()) {
		t.Errorf("the requirements have the readings %v, the engine %v", readings, engine.Readings())
	}
}
