package kubernetes

import (
	"fmt"
	"os"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/cases"
)

// Of generated names of Services Kubernetes judges none otherwise than the enhancement does. By the other rule one is.
func TestGeneratedNames(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	rules := Rules()
	strict := serviceNames("the strict rule, gate on", false, rules[0].State)
	relaxed := serviceNames("the relaxed rule, gate off", true, rules[1].State)
	results, err := cases.Run(t.Context(), []cases.Rule{rules[0], strict, rules[1], relaxed}, cases.Options{
		Cases: 1000, Seed: 9, Provider: suite().Provider(t), Prefix: fmt.Sprintf("service-cases-%d", os.Getpid()), Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	smallest := map[string]string{strict.Name: `a Service named "0"`, relaxed.Name: `a Service named "0"`}
	for _, result := range results {
		want := smallest[result.Rule.Name]
		switch found := result.Disagreement; {
		case result.Err != nil:
			t.Errorf("%s: %v", result.Rule.Name, result.Err)
		case want == "" && (found != nil || result.Judged != 1000):
			t.Errorf("%s: %d judged, %v", result.Rule.Name, result.Judged, found)
		case want != "" && (found == nil || found.Case.Input != want):
			t.Errorf("%s: got %v, want %s", result.Rule.Name, found, want)
		}
	}
}

func TestRulesCoverRequirements(t *testing.T) {
	loaded := suite().Load(t)
	for _, rule := range Rules() {
		for _, id := range rule.Covers {
			if len(loaded.Covering(id)) == 0 {
				t.Errorf("%s covers %s, which no scenario does", rule.Name, id)
			}
		}
	}
}
