package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented is a YAML block of a page, by a line in it.
func documented(t *testing.T, page, line string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(block[1], line) {
			return block[1]
		}
	}
	t.Fatalf("%s has no YAML with %s", page, line)
	return ""
}

// A foreign program takes the place of a simulator, as it is documented: it is given what it needs, awaited, proven to serve, and judged.
func TestForeignProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	definition := documented(t, "../../docs/leaderworkerset.md", "simulator, leaderworkerset")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "rehearse")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	file := filepath.Join(folder, "simulator.yaml")
	for _, c := range []struct {
		faults string
		code   int
		want   string
	}{
		{"", exitOK, "2 passed"},
		{"shared-service-dropped-when-unique", exitFailed, "lws-shared-to-unique [1.36]"},
	} {
		text := strings.Replace(definition, `"--faults="`, `"--faults=`+c.faults+`"`, 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := command(t, "run", "--report-dir", t.TempDir(), "--system", "lws=process:"+file,
			"--focus", `lws-(shared-to-unique|leader-deleted) \[1.36\]`, "../../scenarios/leaderworkerset")
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("with the faults %q: exit code %d, want %d and %q:\n%s%s", c.faults, code, c.code, c.want, out, errs)
		}
	}
}
