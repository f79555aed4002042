package main

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The scenarios of the examples are well formed, and lint, which plans them, needs neither the network nor a build.
func TestExamples(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	others := []string{"ci", "upgrade", "requirements.yaml"} // these are configurations of CI, objects, and rules
	found := 0
	err := filepath.WalkDir("../../examples", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(others, d.Name()) || strings.HasPrefix(d.Name(), "_")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".yaml" || slices.Contains(others, d.Name()):
			return nil
		}
		found++
		if code, out, errs := command(t, "lint", path); code != cli.ExitOK {
			t.Errorf("lint %s: exit code %d: %s%s", path, code, out, errs)
		}
		return nil
	})
	if err != nil || found < 8 {
		t.Errorf("found %d examples, %v", found, err)
	}
}

// Each file of Kyverno has its own definition, since flags, probes and filters differ. Everything else is the same.
func TestDefinitionsOfKyverno(t *testing.T) {
	set, err := scenarios.Load([]string{"../../examples/operators/kyverno"})
	golden.Must(t, err)
	own := regexp.MustCompile(`"--(serverIP|webhookTimeout)=[^"]*",|"KYVERNO_POD_NAME":"[^"]*",|` +
		`"excludeUsernames":"[^"]*",|\[(ServiceCIDR|IPAddress),\*,\*\] ?`)
	first, found := "", 0
	for _, s := range set.Scenarios {
		for _, system := range s.Spec.Cluster.Systems {
			found++
			module := *system.Module
			module.Service, module.Ready = "", nil
			text, err := json.Marshal(module)
			golden.Must(t, err)
			same := strings.ReplaceAll(own.ReplaceAllString(string(text), ""), `":" [`, `":"[`)
			if first == "" {
				first = same
			}
			if same != first {
				t.Errorf("%s: the definition of %s is\n%s\nwant\n%s", s.Position, system.Name, same, first)
			}
		}
	}
	if found < 6 {
		t.Errorf("found %d definitions", found)
	}
}

// The rehearsal of a gate answers what a production readiness review asks.
func TestExampleOfAGate(t *testing.T) {
	needsClusters(t)
	folder := t.TempDir()
	if code, out, errs := command(t, "run", "--report-dir", folder, "../../examples/gate"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	code, out, errs := command(t, "report", "prr", "--kep", "2021", folder)
	if code != cli.ExitOK || !strings.Contains(out, "off, the stored one can be edited: **passed**") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

func TestFetchOfScenarios(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	none := file(t, strings.Replace(scenario(", systems: [{name: m, version: v1.0, module: {path: example.com/m}}]"),
		"1.35", "1.35.4", 1))
	code, _, errs := command(t, "fetch", none)
	if code != cli.ExitInput || !strings.Contains(errs, `"v1.0" is no exact version of a Go module`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, _, errs = command(t, "fetch", "--program", "kubctl", file(t, strings.Replace(scenario(""), "1.35", "1.35.4", 1)))
	if code == cli.ExitOK || !strings.Contains(errs, `no program of Kubernetes is called "kubctl"`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, _, errs = command(t, "fetch", "--platform", "linux/arm64", none)
	if code != cli.ExitInput || !strings.Contains(errs, "--platform: name versions") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, _, errs = command(t, "fetch", "--platform", "linux/sparc", "1.36")
	if code != cli.ExitInput || !strings.Contains(errs, "want linux/amd64 or linux/arm64") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, _, errs = command(t, "fetch", "no/such/file.yaml")
	if code != cli.ExitInput || !strings.Contains(errs, "no/such/file.yaml") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
