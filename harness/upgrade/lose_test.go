package upgrade

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// An object that is lost while it is recreated is not judged, unless a finding about its deletion or creation gives the
// reason. Findings of other checks do not.
func TestLostObjects(t *testing.T) {
	one := rejected{&manifests.Object{Content: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"},
	}}}, errors.New("no")}
	for _, test := range []struct {
		broken      survey.Check
		going, left bool
	}{
		{"", false, false},
		{survey.Keep, false, false},
		{survey.Moved, false, false},
		{survey.Read, true, true},
		{survey.Update, true, false},
		{survey.Label, true, false},
		{survey.Delete, true, false},
		{survey.Finalizer, true, false},
		{survey.Create, false, true},
		{survey.Apply, false, true},
	} {
		r := &rehearsal{report: &upgrades.Report{Path: []*upgrades.State{{Name: "1"}, {Name: "1 redeployed"}}}}
		broken := func(_ *manifests.Object, checks ...survey.Check) bool { return slices.Contains(checks, test.broken) }
		for what, want := range map[string]bool{"going": test.going, "left": test.left} {
			var known []rejected
			r.report.Findings = nil
			if what == "going" {
				known = r.lose(1, []rejected{one}, nil, broken)
			} else {
				known = r.lose(1, nil, []rejected{one}, broken)
			}
			if got := len(known) == 1; got != want || got == (len(r.report.Findings) == 1) {
				t.Errorf("%q fails, and it is %s: %d known, %d reported", test.broken, what, len(known), len(r.report.Findings))
			}
		}
	}
}
