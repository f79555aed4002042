// Package golden helps tests: it compares results with golden files, which go test -update rewrites, and errors with
// texts, and it reads and writes files. It ends tests that cannot continue.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again") //nolint:gochecknoglobals // a flag

// Check compares a text with the golden file at a path.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if want := Want(t, path, got); got != want {
		t.Errorf("%s differs (go test -update writes it again); got:\n%s\nwant:\n%s", path, got, want)
	}
}

// Want returns the golden file at a path. With -update it first writes got to the file.
func Want(t testing.TB, path, got string) string {
	t.Helper()
	if *update {
		write(t, path, []byte(got), 0o644)
	}
	return Read(t, path)
}

// Read returns the text of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	Must(t, err)
	return string(text)
}

// Write writes a file, which may be a script, and the folders that it needs.
func Write[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	write(t, path, []byte(text), 0o755)
}

func write(t testing.TB, path string, text []byte, mode os.FileMode) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	Must(t, os.WriteFile(path, text, mode))
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Error checks that an error contains each of the texts. If there are none, or if the first is "", it checks that there
// is no error.
func Error(t testing.TB, err error, texts ...string) {
	t.Helper()
	if len(texts) == 0 || texts[0] == "" {
		if err != nil {
			t.Errorf("got the error %v, want none", err)
		}
		return
	}
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got the error %v, want one with %q", err, text)
		}
	}
}
