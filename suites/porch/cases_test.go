package porch_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/porch"
)

// The simulator judges generated paths as specified. With a fault, a wrongly judged path is found.
func TestGeneratedPaths(t *testing.T) {
	faults := []string{"", "prefix-overlaps", "child-path-allowed", "siblings-overlap"}
	var rules []cases.Rule
	for _, fault := range faults {
		rule := porch.Rules()[0]
		if fault != "" {
			rule.State.Systems[0].Simulated = &clusters.Simulated{Faults: []string{fault}}
		}
		rules = append(rules, rule)
	}
	wants := []struct{ requirements, got string }{
		{},
		{"P64 P65 P66", "conflicts with existing package"},
		{"P61 P62", "accepted"},
		{"P64 P65 P66", "conflicts with existing package"},
	}
	for i, result := range suite().Cases(t, rules, 300, 5) {
		want := wants[i]
		switch found := result.Disagreement; {
		case result.Err != nil:
			t.Errorf("%s: %v", faults[i], result.Err)
		case want.got == "":
			if found != nil || result.Judged != 300 {
				t.Errorf("%d judged, %v", result.Judged, found)
			}
			for _, id := range rules[i].Covers {
				if result.About[id] == 0 {
					t.Errorf("no case is about %s: %v", id, result.About)
				}
			}
		case found == nil || !strings.Contains(found.Got, want.got) || !slices.Contains(strings.Fields(want.requirements),
			strings.TrimPrefix(found.Case.Requirement, "PORCH-")):
			t.Errorf("%s: got %v\nwant one of %s, %q", faults[i], found, want.requirements, want.got)
		}
	}
}

// Whoever tests another implementation provides a git server. Without one, the error says how.
func TestNoGitServer(t *testing.T) {
	w := cases.World{Client: fake.NewSimpleDynamicClient(runtime.NewScheme()), Namespace: "n"}
	_, err := porch.Rules()[0].Begin(t.Context(), w)
	for _, want := range []string{`configmaps "git" not found`, "docs/conformance.md"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in: %v", want, err)
		}
	}
}
