package main

import (
	"regexp"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestVersion(t *testing.T) {
	versions := regexp.MustCompile(`(?m)^VERSIONS +:= (\S+) .*?(\S+)$`).FindStringSubmatch(golden.Read(t, "../../Makefile"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	out := exits(t, cli.ExitOK, "--version")
	for _, want := range []string{
		`(?m)^rehearse \S+$`, `(?m)^Kubernetes libraries: v1\.\d+\.\d+$`, `(?m)^built with: go\S+ for \w+/\w+$`,
		`(?m)^Kubernetes versions: tested with ` + regexp.QuoteMeta(versions[1]+" to "+versions[2]) + `;`,
		`(?m)^Kubernetes versions in the cache: none yet; rehearse fetch`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("it says\n%swant %s", out, want)
		}
	}
}
