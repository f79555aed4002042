package program

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// What a rehearsal that is killed leaves cannot be mistaken for a success.
func TestPlannedUpgrade(t *testing.T) {
	report := upgrade.Planned(upgrade.Options{Path: upgrade.Path{
		States: []clusters.State{{Version: "1.35.4"}, {Version: "1.36.3"}, {Version: "1.35.4"}},
		Ways:   []string{upgrades.Start, upgrades.Up, upgrades.Back},
	}})
	if code := report.ExitCode(); code != cli.ExitBroken {
		t.Errorf("exit code %d, want %d", code, cli.ExitBroken)
	}
	junit, err := upgrades.JUnit(report)
	if err != nil || !strings.Contains(string(junit), `<error message="0 of 3 states were reached"`) {
		t.Errorf("%v:\n%s", err, junit)
	}
	shown, err := page.OfUpgrade(report)
	if err != nil || !strings.Contains(string(shown), "1.35.4 → 1.36.3 → 1.35.4") {
		t.Errorf("%v: the page does not show the path", err)
	}
}
