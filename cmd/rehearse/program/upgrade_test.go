package program

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/internal/golden"
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

// A rehearsal of a cluster that does not answer leaves no earlier result in its folder, and a plan leaves all of it.
func TestUpgradeOfAClusterThatIsAway(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(t.TempDir(), "config")
	golden.Must(t, os.WriteFile(kubeconfig, []byte(`apiVersion: v1
kind: Config
clusters: [{name: away, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: away, context: {cluster: away, user: nobody}}]
users: [{name: nobody, user: {}}]
`), 0o600))
	earlier := []string{"junit.xml", "report.html", "upgrade.json", "upgrade.md"}
	for _, name := range earlier {
		golden.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("passed"), 0o600))
	}
	for _, test := range []struct {
		plan string
		left int
	}{{"--plan=true", len(earlier)}, {"--plan=false", 0}} {
		root := newRootCommand(nil)
		root.SetArgs([]string{
			"upgrade", "--from-context", "away", "--kubeconfig", kubeconfig, "--to", "1.36", "--report-dir", dir, test.plan,
		})
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.ExecuteContext(t.Context()); cli.CodeOf(err) != cli.ExitBroken {
			t.Errorf("%s: %v, exit code %d", test.plan, err, cli.CodeOf(err))
		}
		left, err := os.ReadDir(dir)
		if golden.Must(t, err); len(left) != test.left {
			t.Errorf("%s: %v are left, want %d files", test.plan, left, test.left)
		}
	}
}
