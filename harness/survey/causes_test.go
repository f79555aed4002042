package survey

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// A regression is named only at a hop that shows it.
func TestCause(t *testing.T) {
	revision := upgrades.Finding{Kind: "DaemonSet.apps", Check: string(Moved), Words: "new ControllerRevision"}
	restarts := upgrades.Finding{Kind: "StatefulSet.apps", Check: string(Moved), Words: "pods were replaced"}
	number := upgrades.Finding{
		Kind: "Widget.example.com", Check: string(Create), Words: "spec.size in body must be of format int32",
	}
	builtIn := number
	builtIn.Kind = "ConfigMap"
	for name, test := range map[string]struct {
		finding  upgrades.Finding
		from, to string
		issue    string
	}{
		"the hop crosses the version":      {revision, "1.33.13", "1.34.4", "134773"},
		"a rollback crosses it, too":       {revision, "1.34.4 redeployed", "1.33.13", "134773"},
		"a release candidate has it":       {revision, "1.33.13", "1.34.0-rc.1", "134773"},
		"the next hop":                     {revision, "1.34.4", "1.35.4", ""},
		"the hop before":                   {revision, "1.32.9", "1.33.13", ""},
		"to a release that has it":         {restarts, "1.33.13", "1.34.0", "134773"},
		"from a release that has it":       {restarts, "1.34.1", "1.34.4", "134773"},
		"to a release that is mended":      {restarts, "1.33.13", "1.34.4", ""},
		"a number in a custom resource":    {number, "1.35.4", "1.36.3", "136582"},
		"the same words about another one": {builtIn, "1.35.4", "1.36.3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := test.finding
			f.State = 1
			sentence, link := cause(&f, []*upgrades.State{{Name: test.from}, {Name: test.to}})
			if !strings.HasSuffix(link, test.issue) || (test.issue == "") != (link == "") {
				t.Errorf("%q, %q; want issue %q", sentence, link, test.issue)
			}
		})
	}
}

// The advice about pods that restart during a rollback is not about the target of the upgrade.
func TestAdviceOfARollback(t *testing.T) {
	up, back := advice(Moved, "", upgrades.Breaks, upgrades.Up), advice(Moved, "", upgrades.Breaks, upgrades.Back)
	if !strings.Contains(up, "patch release of the target") || strings.Contains(back, "target") ||
		!strings.Contains(back, "if you roll back") {
		t.Errorf("up: %q, back: %q", up, back)
	}
}
