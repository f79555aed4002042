package simulator

import (
	"strings"
	"testing"
)

func TestWrongOptions(t *testing.T) {
	for name, options := range map[string]Options{
		"fault":   {Faults: []string{"no-such-fault"}},
		"variant": {Variant: "no-such-variant"},
	} {
		if err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "no-such-"+name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := Run(t.Context(), Options{CertDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(),
		"serving certificate") {
		t.Errorf("no certificate: got %v", err)
	}
}
