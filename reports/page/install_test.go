package page

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// If .ci/browser cannot install what the browser tests need, it says why and fails, so that CI can report what was
// not run. The test's PATH has only the programs that the test names.
func TestBrowserThatCannotBeInstalled(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", ".ci", "browser"))
	golden.Must(t, err)
	const install = "case \"$*\" in *install*) for p in chromium node npm; do printf '#!/bin/sh\\nexit 1\\n' >\"$BIN/$p\"; chmod +x \"$BIN/$p\"; done;; esac"
	for name, test := range map[string]struct {
		programs map[string]string
		want     string
	}{
		"nothing to install with": {map[string]string{"id": "echo 0"}, "there is no apt-get to install chromium nodejs npm with"},
		"not allowed": {
			map[string]string{"id": "echo 1000", "apt-get": ""},
			"installing chromium nodejs npm needs root, or sudo without a password",
		},
		"not root, but sudo": {
			map[string]string{"id": "echo 1000", "sudo": "shift\nexec \"$@\"", "apt-get": "exit 100"},
			"apt-get could not install chromium nodejs npm within 8 minutes",
		},
		"no network": {
			map[string]string{"id": "echo 0", "apt-get": "exit 100"},
			"apt-get could not install chromium nodejs npm within 8 minutes",
		},
		"a browser is there": {
			map[string]string{"id": "echo 0", "chromium-browser": "", "apt-get": "exit 100"},
			"apt-get could not install nodejs npm within 8 minutes",
		},
		"installed, but no modules": {
			map[string]string{"id": "echo 0", "apt-get": install}, "npm could not get playwright-core and axe-core within 2 minutes",
		},
		"installed in vain": {map[string]string{"id": "echo 0", "apt-get": ""}, "chromium nodejs npm is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			for _, program := range []string{"bash", "dirname", "env", "cmp", "mkdir", "cp", "rm", "timeout", "sh", "chmod", "true"} {
				path, err := exec.LookPath(program)
				if err != nil {
					t.Skipf("NOT RUN: no %s here", program)
				}
				golden.Must(t, os.Symlink(path, filepath.Join(bin, program)))
			}
			for program, does := range test.programs {
				text := "#!/bin/sh\n" + does + "\n"
				golden.Write(t, filepath.Join(bin, program), text)
			}
			command := exec.CommandContext(t.Context(), filepath.Join(bin, "bash"), script)
			command.Env = []string{"PATH=" + bin, "BIN=" + bin, "HOME=" + bin, "XDG_CACHE_HOME=" + filepath.Join(bin, "cache")}
			said, err := command.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.TrimSpace(string(said)) != test.want {
				t.Errorf("%v, it says %q, want %q", err, said, test.want)
			}
		})
	}
}
