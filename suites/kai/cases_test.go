package kai_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/kai/simulator"
)

// Of 1000 generated names none is judged otherwise than the specification does; with a fault one is found, and made small.
func TestGeneratedNames(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a cluster")
	}
	rules := kai.Rules()
	sound := len(rules)
	for _, c := range []struct{ variant, fault string }{
		{simulator.CRD, "crd-pattern-ignores-case"}, {simulator.Webhook, "length-off-by-one"}, {simulator.Webhook, "hint-never"},
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
	results, err := cases.Run(t.Context(), rules, cases.Options{
		Cases: 1000, Seed: 1, Provider: suite().Provider(t), Simulators: suite().Options(t).Simulators, Prefix: fmt.Sprintf("kai-cases-%d", os.Getpid()), Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	smallest := map[string]string{
		"crd-pattern-ignores-case": `a sub group named "A": by KAI-K02 it is to be refused, but it was accepted`,
		"length-off-by-one":        `a sub group named "` + strings.Repeat("a", 63) + `": by KAI-K09 it is to be accepted, but it was refused: 403 Forbidden`,
		"hint-never":               `a sub group named "A": by KAI-K02 it is to be refused with "subgroup name \"A\" must be lowercase; use \"a\" instead"`,
	}
	for i, result := range results {
		want := smallest[result.Rule.Name]
		switch {
		case result.Err != nil:
			t.Error(result.Err)
		case i < sound:
			if result.Judged != 1000 || result.Disagreement != nil {
				t.Errorf("%s: %d judged, %v", result.Rule.Name, result.Judged, result.Disagreement)
			}
		case result.Disagreement == nil || !strings.HasPrefix(result.Disagreement.String(), want):
			t.Errorf("%s: got %v\nwant %s", result.Rule.Name, result.Disagreement, want)
		}
	}
}

// The rules cover requirements that there are, which a profile can see.
func TestRulesCoverRequirements(t *testing.T) {
	loaded := suite().Load(t)
	for _, rule := range kai.Rules() {
		for _, id := range rule.Covers {
			if len(loaded.Covering(id)) == 0 {
				t.Errorf("%s covers %s, which no scenario does", rule.Name, id)
			}
		}
	}
}
