package reports

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func writeFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		golden.Write(t, path, name)
	}
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		relative, _ := filepath.Rel(dir, path)
		if entry.IsDir() {
			relative += "/"
		}
		all = append(all, relative)
		return err
	})
	golden.Must(t, err)
	return all
}

// A run removes what earlier runs left in the report folder, and no other files.
func TestOldArtifactsAreRemoved(t *testing.T) {
	report, outside := t.TempDir(), t.TempDir()
	writeFiles(t, outside, "precious")
	writeFiles(t, report, "notes.txt", "own/data.yaml", "mixed/mine.txt", "mixed/events.yaml")
	golden.Must(t, os.Symlink(outside, filepath.Join(report, "link")))
	left := func(name string, files ...string) {
		t.Helper()
		err := WriteArtifacts(filepath.Join(report, name), func(dir string) error {
			writeFiles(t, dir, files...)
			return nil
		})
		golden.Must(t, err)
	}
	left("failed", "events.yaml", "logs/kube-apiserver-1.log")
	left("failed", "history.jsonl") // written into the same folder later
	left("mixed", "objects.yaml")
	// A changed list cannot remove anything outside of the folder.
	left("evil", "objects.yaml")
	golden.Must(t, os.Symlink(outside, filepath.Join(report, "evil", "out")))
	list := filepath.Join(report, "evil", manifest)
	text := []byte(golden.Read(t, list))
	golden.Write(t, list, append(text, "../notes.txt\n"...))

	r := NewRecorder(filesPlan(1), clocktesting.NewFakeClock(time.Unix(1e9, 0)),
		NewFiles(report, clocktesting.NewFakeClock(time.Unix(1e9, 0)), standard...))
	golden.Must(t, r.Finish())
	want := []string{
		"./", "evil/", "evil/out", "junit.xml", "link", "mixed/", "mixed/events.yaml", "mixed/mine.txt", "notes.txt", "own/",
		"own/data.yaml", "run.json",
	}
	if got := filesIn(t, report); !slices.Equal(got, want) {
		t.Errorf("the report folder has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := filesIn(t, outside); !slices.Equal(got, []string{"./", "precious"}) {
		t.Errorf("outside of the report folder there is %v", got)
	}
}

// A list that leads out of the folder through a link removes nothing there.
func TestOldArtifactsBehindALink(t *testing.T) {
	report, outside := t.TempDir(), t.TempDir()
	writeFiles(t, outside, "precious")
	writeFiles(t, report, "x/"+manifest)
	golden.Write(t, filepath.Join(report, "x", manifest), manifestHeader+"out/precious\n")
	golden.Must(t, os.Symlink(outside, filepath.Join(report, "x", "out")))
	golden.Error(t, sweepArtifacts(report), "removing the files of an earlier run")
	if got := filesIn(t, outside); !slices.Equal(got, []string{"./", "precious"}) {
		t.Errorf("outside of the report folder there is %v", got)
	}
}
