package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// Reports of an earlier run go, also those of its repetitions and readings. What is not ours stays.
func TestRemoveReports(t *testing.T) {
	dir := t.TempDir()
	golden.Must(t, RemoveReports([]string{filepath.Join(dir, "not there yet")}))
	for _, file := range []string{
		"junit.xml", "run.json", "mine.txt", "run-1/junit.xml", "run-12/readings/junit.xml", "readings/run.json",
		"run-x/junit.xml", "run-1/mine.txt",
	} {
		golden.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		golden.Write(t, filepath.Join(dir, file), "x")
	}
	golden.Must(t, RemoveReports([]string{dir}))
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

// If another run writes in one of the folders, all reports stay.
func TestReportsOfAnotherRunStay(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run-1", "run-2"} {
		golden.Must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
		golden.Write(t, filepath.Join(dir, name, "run.json"), "theirs")
	}
	clk := clock.RealClock{}
	theirs := reports.NewRecorder(&reports.Run{}, clk, reports.NewFiles(filepath.Join(dir, "run-2"), clk))
	golden.Must(t, theirs.Start())
	defer func() { golden.Must(t, theirs.Finish()) }()
	golden.Error(t, RemoveReports([]string{dir}), "another rehearse writes its reports")
	if got := golden.Read(t, filepath.Join(dir, "run-1", "run.json")); got != "theirs" {
		t.Errorf("run-1/run.json is %q", got)
	}
}
