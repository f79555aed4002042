package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

func TestVersion(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--version"}, nil, &out, &errs); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		`(?m)^rehearse \S+$`, `(?m)^Kubernetes libraries: v1\.\d+\.\d+$`, `(?m)^built with: go\S+ for \w+/\w+$`,
		`(?m)^Kubernetes versions in the cache: none yet; rehearse fetch`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("it says\n%swant %s", out.String(), want)
		}
	}
}
