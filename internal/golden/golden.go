// Package golden compares a test's result with a golden file, which go test -update rewrites.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // a flag

// Check compares a text with the golden file at a path.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if want := Want(t, path, got); got != want {
		t.Errorf("%s differs (go test -update writes it anew); got:\n%s\nwant:\n%s", path, got, want)
	}
}

// Want returns the golden file at a path. With -update it first writes got to the file.
func Want(t testing.TB, path, got string) string {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}
