package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The commands of docs/install.md check an archive of a release, unpack it, and install the program and the plugin.
func TestInstallingAsDocumented(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^    ((?:sha256sum|tar|install) .*)$`).FindAllStringSubmatch(
		golden.Read(t, "../../docs/install.md"), -1)
	if len(lines) != 3 {
		t.Fatalf("%d commands", len(lines))
	}
	var script []string
	for _, line := range lines {
		script = append(script, strings.ReplaceAll(line[1], "VERSION", "v1.2.3"))
	}
	source, out, home := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		golden.Write(t, filepath.Join(source, name), name)
	}
	archive := filepath.Join(out, "rehearse_v1.2.3_linux_amd64.tar.gz")
	golden.Must(t, pack(built(t), source, archive))
	golden.Must(t, writeSums(filepath.Join(out, "SHA256SUMS"), []string{archive}))
	bin := filepath.Join(home, ".local", "bin")
	golden.Must(t, os.MkdirAll(bin, 0o755))
	run := func() error {
		command := exec.CommandContext(t.Context(), "bash", "-e", "-c", strings.Join(script, "\n"))
		command.Dir, command.Env = out, append(os.Environ(), "HOME="+home)
		_, err := command.CombinedOutput()
		return err
	}
	golden.Error(t, run(), "")
	for _, name := range []string{"rehearse", "kubectl-rehearse"} {
		if got := golden.Read(t, filepath.Join(bin, name)); got != "a program" {
			t.Errorf("%s is %q", name, got)
		}
	}
	golden.Write(t, archive, "changed")
	golden.Error(t, run(), "exit status 1")
}
