package realtest

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// These verdicts misled in the past: a field that was never stored, a "never" about nothing, a kind that is not
// served, a null that was reported as a change.
func TestVerdictsThatMisled(t *testing.T) {
	want := map[string]struct {
		status reports.Status
		says   []string
	}{
		"misspelt-field":         {reports.Failed, []string{"dta"}},
		"misspelt-field-applied": {reports.Failed, []string{"dta"}},
		"misspelt-field-patched": {reports.Failed, []string{"dta"}},
		"dropped-by-a-gate": {reports.Failed, []string{
			"spec.containers[0].restartPolicyRules was dropped",
			"ContainerRestartRules", "off by default in 1.34",
		}},
		"dropped-as-expected":         {status: reports.Passed},
		"never-of-an-unknown-field":   {reports.Error, []string{"status.phaze", `did you mean "phase"?`}},
		"match-of-an-unknown-field":   {reports.Error, []string{"statuz"}},
		"never-about-nothing":         {status: reports.Failed},
		"never-about-nothing-allowed": {status: reports.Passed},
		"there-is-none":               {status: reports.Passed},
		"unserved-never":              {reports.Failed, []string{"Podd of v1 is not served"}},
		"unserved-absent":             {reports.Failed, []string{"Podd of v1 is not served"}},
		"unserved-count":              {reports.Failed, []string{"Podd of v1 is not served"}},
		"unserved-eventually":         {reports.Failed, []string{"Podd of v1 is not served"}},
		"removed-rejected":            {status: reports.Passed},
		"removed-accepted":            {reports.Failed, []string{"v1beta3 is not served by 1.34", "v1 is served"}},
		"field-that-became-absent":    {status: reports.Passed},
		"canary-of-a-removed-version": {status: reports.Passed},
		"what-is-stuck": {reports.Failed, []string{
			"label (patch)", "finalizer (patch)",
			"spec.containers[0].restartPolicy",
		}},
		"load-through-an-upgrade":              {status: reports.Passed},
		"what-is-only-answered":                {status: reports.Passed},
		"definition-that-was-just-changed [1]": {status: reports.Passed},
		"definition-that-was-just-changed [2]": {status: reports.Passed},
		"definition-that-was-just-changed [3]": {status: reports.Passed},
		"definition-that-was-just-changed [4]": {status: reports.Passed},
		"definition-that-was-just-changed [5]": {status: reports.Passed},
		"no-nodes":                             {reports.Failed, []string{"status.readyReplicas: wanted 1, not there", "nodes"}},
	}
	text := golden.Read(t, "testdata/misleading.yaml")
	for _, track := range run(t, clustertest.Local(t), text).Tracks {
		for _, s := range track.Scenarios {
			expected, listed := want[s.Name]
			delete(want, s.Name)
			explained := reports.Explain(s)
			if !listed || s.Status != expected.status {
				t.Errorf("%s is %s, want %s\n%s", s.Name, s.Status, expected.status, explained)
				continue
			}
			if s.Name == "no-nodes" {
				managersInHistory(t, s)
			}
			for _, words := range expected.says {
				if !strings.Contains(explained, words) {
					t.Errorf("%s does not say %q:\n%s", s.Name, words, explained)
				}
			}
		}
	}
	for name := range want {
		t.Errorf("%s did not run", name)
	}
}

// managersInHistory requires that the history shows who managed a Deployment's fields after each change of it, also
// after changes that others followed.
func managersInHistory(t *testing.T, s *reports.Scenario) {
	t.Helper()
	text := golden.Read(t, filepath.Join(s.Folder, reports.HistoryFile))
	changes := 0
	for line := range strings.Lines(text) {
		var one reports.HistoryLine
		golden.Must(t, json.Unmarshal([]byte(line), &one))
		if one.Line != "change" || one.Kind != "Deployment" || one.Change == "deleted" {
			continue
		}
		changes++
		// The creator manages the spec from then on.
		if !slices.ContainsFunc(one.Managers, func(m reports.FieldManager) bool {
			return strings.HasPrefix(m.Name, "rehearse-") && m.Fields["f:spec"] != nil
		}) {
			t.Errorf("after the change at %s Deployment %s has the managers %+v", one.ResourceVersion, one.Name, one.Managers)
		}
	}
	if changes == 0 {
		t.Errorf("the history of %s has no change of a Deployment:\n%s", s.Name, text)
	}
}
