package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

// conform runs a suite on a simulator and returns the report.
func conform(t *testing.T, path string, code int, args ...string) *conformances.Report {
	t.Helper()
	args = append(append([]string{"conformance", "--clusters", "2", "--report-dir", t.TempDir(), "--output", path},
		somebody...), args...)
	exits(t, code, args...)
	return conformanceReport(t, path)
}

// conformanceReport reads a report.
func conformanceReport(t *testing.T, path string) *conformances.Report {
	t.Helper()
	data := []byte(golden.Read(t, path))
	r, err := conformances.Read(data)
	golden.Must(t, err)
	return r
}

// A simulator conforms in all generated cases. With a bug it does not, and a case that shows the bug is in the
// report.
func TestConformanceOfASimulator(t *testing.T) {
	needsClusters(t)
	good, bad := filepath.Join(t.TempDir(), "good.yaml"), filepath.Join(t.TempDir(), "bad.yaml")
	r := conform(t, good, cli.ExitOK, "kai", "--profile", "crd", "--cases", "200", "--seed", "3")
	if last := r.Scenarios[len(r.Scenarios)-1]; r.Core.Result != conformances.Success || last.Cases == nil ||
		last.Cases.Agreed != 200 || last.Cases.Seed != 3 {
		t.Errorf("core %s, %+v", r.Core.Result, last)
	}
	r = conform(t, bad, cli.ExitFailed, "kai", "--profile", "crd", "--cases", "200", "--system",
		"kai=faults:crd-pattern-ignores-case")
	last := r.Scenarios[len(r.Scenarios)-1]
	// The seed is new each time, and the library does not find the smallest case, which is "A", from every seed.
	if last.Cases == nil || !strings.HasSuffix(last.Cases.Disagreement,
		": by KAI-K02 it must be rejected, but it was accepted") {
		t.Errorf("of the generated cases the report says %+v", last)
	}
	if seed := "--seed="; last.Cases.Seed == 0 || !strings.Contains(r.Reproduce.Command, seed) {
		t.Errorf("seed %d; to reproduce: %s", last.Cases.Seed, r.Reproduce.Command)
	}
	code, out, _ := command(t, "conformance", "diff", good, bad)
	if code != cli.ExitFailed || !strings.Contains(out, "KAI-K02 (core): passed  ->  failed") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// An implementation that reads the specification differently meets the requirements that allow it, and the report
// says so. What needs another variant of the simulator is untested, so the exit code is 3.
func TestConformanceInOtherReadings(t *testing.T) {
	needsClusters(t)
	r := conform(t, filepath.Join(t.TempDir(), "r.yaml"), cli.ExitBroken, "porch", "--system", "porch=variant:other-readings")
	var seen []string
	for _, q := range r.Requirements {
		if q.Variant != "" {
			seen = append(seen, q.ID+" "+q.Variant)
		}
	}
	const want = "PORCH-AMB1 proposed-full-update, PORCH-AMB2 deletion-proposed-is-published, PORCH-AMB3 " +
		"immutable-is-forbidden, " +
		"PORCH-AMB4 missing-source-is-not-found, PORCH-AMB5 init-again, PORCH-AMB6 missing-version-is-invalid"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("seen %s\nwant %s", got, want)
	}
}

func TestFaultsAreTried(t *testing.T) {
	needsClusters(t)
	code, out, errs := command(t, "faults", "kai", "--try", "--only", "crd-pattern-ignores-case,cycles-from-first",
		"--report-dir", t.TempDir())
	if code != cli.ExitOK {
		t.Fatalf("exit code %d:\n%s%s", code, out, errs)
	}
	for _, want := range []string{
		"cycles-from-first", "KAI-K23", "kai: 2 of 2 faults caught",
		"passed before, passed during or after",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	if code, _, errs = command(t, "faults", "kai", "--try", "--only", "no-such"); code == cli.ExitOK ||
		!strings.Contains(errs, `no fault and no liberty "no-such"`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// A project can keep its suite in its own folder.
func TestConformanceOfAFolder(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"no folder":       {"./nothing", "open the suite ./nothing: reading requirements"},
		"no requirements": {"../../scenarios/kai", "requirements.yaml"},
		"not a name":      {"team-rules", "there is no suite \"team-rules\"; there are: kubernetes"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := command(t, "conformance", c.args)
			if code != cli.ExitInput || !strings.Contains(errs, c.want) {
				t.Errorf("exit code %d, want %q:\n%s%s", code, c.want, out, errs)
			}
		})
	}
	t.Run("example", func(t *testing.T) {
		needsClusters(t)
		r := conform(t, filepath.Join(t.TempDir(), "r.yaml"), cli.ExitOK, "../../examples/team-rules")
		if r.Core.Result != conformances.Success || len(r.Requirements) != 3 || r.Suite.Name != "team-rules" {
			t.Errorf("%+v of suite %+v", r.Requirements, r.Suite)
		}
	})
}
