package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Reports of an earlier run go, also those of its repetitions and readings. What is not ours stays.
func TestRemoveReports(t *testing.T) {
	dir := t.TempDir()
	golden.Must(t, RemoveReports(filepath.Join(dir, "not there yet")))
	for _, file := range []string{
		"junit.xml", "run.json", "mine.txt", "run-1/junit.xml", "run-12/readings/junit.xml", "readings/run.json",
		"run-x/junit.xml", "run-1/mine.txt",
	} {
		golden.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		golden.Write(t, filepath.Join(dir, file), "x")
	}
	golden.Must(t, RemoveReports(dir))
	var left []string
	golden.Must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			left = append(left, path)
		}
		return err
	}))
	if got, want := strings.Join(left, " "), "mine.txt run-1/mine.txt run-x/junit.xml"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
}
