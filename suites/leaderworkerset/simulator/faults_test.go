package simulator

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
)

// Every core requirement can be broken, and every fault breaks a requirement.
func TestFaults(t *testing.T) {
	requirements, err := leaderworkerset.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	names := map[string]bool{}
	for _, fault := range Faults() {
		if names[fault.Name] {
			t.Errorf("two faults are called %s", fault.Name)
		}
		names[fault.Name] = true
		if !strings.HasSuffix(fault.Sentence, ".") || len(fault.Breaks) == 0 {
			t.Errorf("fault %s: %q breaks %v", fault.Name, fault.Sentence, fault.Breaks)
		}
		for _, id := range fault.Breaks {
			broken[id] = true
		}
	}
	for _, requirement := range requirements {
		if requirement.Level == "core" && !broken[requirement.ID] {
			t.Errorf("no fault breaks %s: %s", requirement.ID, requirement.Statement)
		}
		delete(broken, requirement.ID)
	}
	for id := range broken {
		t.Errorf("a fault breaks %s, which is no requirement", id)
	}
}

func TestWrongOptions(t *testing.T) {
	for name, options := range map[string]Options{
		"fault":   {Faults: []string{"no-such-fault"}},
		"variant": {Variant: "no-such-variant"},
	} {
		if err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "no-such-"+name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := Run(t.Context(), Options{CertDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "serving certificate") {
		t.Errorf("no certificate: got %v", err)
	}
}
