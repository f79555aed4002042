package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// repository makes a Git repository with a tag, and with a small program at the path of ours.
func repository(t *testing.T) string {
	t.Helper()
	// The user's own configuration may sign commits, or run hooks.
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("LC_ALL", "C")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "module example.com/shop\n\ngo 1.26\n",
		"cmd/rehearse/main.go": "package main\n\nimport \"runtime\"\n\nfunc main() { println(runtime.GOARCH) }\n",
		"CHANGELOG.md":         "# Changes\n\n## v0.3.0\n\n- new\n", "LICENSE": "free\n", "README.md": "read\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		golden.Write(t, path, text)
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "all"},
		{"tag", "v0.3.0"},
	} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A release is built twice with the same result, packed, and named after the tag.
func TestPublishBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the runtime of Go twice")
	}
	s := settings{source: repository(t), out: t.TempDir()}
	own := []platform{{runtime.GOOS, runtime.GOARCH}}
	var out bytes.Buffer
	golden.Must(t, publishBinaries(t.Context(), s, own, false, &out))
	base := strings.Join([]string{"rehearse_v0.3.0", runtime.GOOS, runtime.GOARCH}, "_")
	sums := string(contentOf(t, filepath.Join(s.out, "SHA256SUMS")))
	for _, file := range []string{base + ".tar.gz", base + ".cdx.json", "rehearse_v0.3.0_changes.md"} {
		if !strings.Contains(sums, "  "+file+"\n") {
			t.Errorf("%s has no checksum:\n%s", file, sums)
		}
	}
	if !strings.Contains(out.String(), "two builds are equal") {
		t.Errorf("it says %s", out.String())
	}
	golden.Write(t, filepath.Join(s.source, "LICENSE"), "changed\n")
	golden.Error(t, publishBinaries(t.Context(), s, own, true, &out), "changes that are not committed")
}

// A second build that differs from the first is an error.
func TestBuildAgainTellsADifference(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the runtime of Go")
	}
	other := built(t).file
	err := buildAgain(t.Context(), repository(t), platform{runtime.GOOS, runtime.GOARCH}, other)
	golden.Error(t, err, "differ")
}
