package porch_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/porch"
)

// Of generated paths none is judged otherwise than the specification does; with a fault one is found.
func TestGeneratedPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a cluster")
	}
	faults := []string{"", "prefix-overlaps", "child-path-allowed", "siblings-overlap"}
	var rules []cases.Rule
	for _, fault := range faults {
		rule := porch.Rules()[0]
		if fault != "" {
			rule.State.Systems[0].Simulated = &clusters.Simulated{Faults: []string{fault}}
		}
		rules = append(rules, rule)
	}
	results, err := cases.Run(t.Context(), rules, cases.Options{
		Cases: 300, Seed: 5, Provider: suite().Provider(t), Simulators: suite().Options(t).Simulators, Prefix: fmt.Sprintf("porch-cases-%d", os.Getpid()), Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	wants := []struct{ requirements, got string }{{}, {"P64 P65 P66", "conflicts with existing package"}, {"P61 P62", "accepted"}, {"P64 P65 P66", "conflicts with existing package"}}
	for i, result := range results {
		want := wants[i]
		switch found := result.Disagreement; {
		case result.Err != nil:
			t.Errorf("%s: %v", faults[i], result.Err)
		case want.got == "":
			if found != nil || result.Judged != 300 {
				t.Errorf("%d judged, %v", result.Judged, found)
			}
		case found == nil || !strings.Contains(found.Got, want.got) || !slices.Contains(strings.Fields(want.requirements), strings.TrimPrefix(found.Case.Requirement, "PORCH-")):
			t.Errorf("%s: got %v\nwant one of %s, %q", faults[i], found, want.requirements, want.got)
		}
	}
}

func TestRulesCoverRequirements(t *testing.T) {
	loaded := suite().Load(t)
	for _, id := range porch.Rules()[0].Covers {
		if len(loaded.Covering(id)) == 0 {
			t.Errorf("a rule covers %s, which no scenario does", id)
		}
	}
}
