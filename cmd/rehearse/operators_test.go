package main

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// The examples of real operators are well formed, and lint, which plans them, needs neither the network nor a build.
func TestOperatorExamples(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const folder = "../../examples/operators"
	found := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || filepath.Base(path) == "webhooks.yaml" {
			return err
		}
		found++
		if code, out, errs := command(t, "lint", path); code != cli.ExitOK {
			t.Errorf("lint %s: exit code %d: %s%s", path, code, out, errs)
		}
		return nil
	})
	if err != nil || found < 2 {
		t.Errorf("found %d examples, %v", found, err)
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
	code, _, errs = command(t, "fetch", "no/such/file.yaml")
	if code != cli.ExitInput || !strings.Contains(errs, "no/such/file.yaml") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
