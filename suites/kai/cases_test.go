package kai_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/kai/simulator"
)

// The simulator judges 1000 generated names as specified. With a fault, a wrongly judged name is found and shrunk.
func TestGeneratedNames(t *testing.T) {
	rules := kai.Rules()
	sound := len(rules)
	for _, c := range []struct{ variant, fault string }{
		{simulator.CRD, "crd-pattern-ignores-case"},
		{simulator.Webhook, "length-off-by-one"},
		{simulator.Webhook, "case-alone"},
	} {
		for _, rule := range kai.Rules() {
			if strings.Contains(rule.Name, c.variant) {
				system := rule.State.Systems[0]
				simulated := *system.Simulated
				simulated.Faults = []string{c.fault}
				rule.State.Systems[0].Simulated = &simulated
				rule.Name = c.fault
				rules = append(rules, rule)
			}
		}
	}
	smallest := map[string]string{
		"crd-pattern-ignores-case": `a sub group named "A": by KAI-K02 it must be rejected, but it was accepted`,
		"length-off-by-one": `a sub group named "` + strings.Repeat("a", 63) +
			`": by KAI-K09 it must be accepted, but it was rejected: 403 Forbidden`,
		"case-alone": `a sub group named "a-": by KAI-K06 it must be rejected, but it was accepted`,
	}
	for i, result := range suite().Cases(t, rules, 1000, 1) {
		want := smallest[result.Rule.Name]
		switch {
		case result.Err != nil:
			t.Error(result.Err)
		case i < sound:
			if result.Judged != 1000 || result.Disagreement != nil {
				t.Errorf("%s: %d judged, %v", result.Rule.Name, result.Judged, result.Disagreement)
			}
			for _, id := range result.Rule.Covers {
				if result.About[id] == 0 {
					t.Errorf("%s: no case is about %s: %v", result.Rule.Name, id, result.About)
				}
			}
		case result.Disagreement == nil || !strings.HasPrefix(result.Disagreement.String(), want):
			t.Errorf("%s: got %v\nwant %s", result.Rule.Name, result.Disagreement, want)
		}
	}
}
