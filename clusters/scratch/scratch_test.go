package scratch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A folder in use stays. A folder of a killed run, whose lock is free, goes, and so does an old one without a lock.
func TestFolder(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	used, remove, err := Folder("used")
	golden.Must(t, err)
	if info, err := os.Stat(used); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	killed, young, old := filepath.Join(temporary, prefix+"killed"), filepath.Join(temporary, prefix+"young"),
		filepath.Join(temporary, prefix+"old")
	for _, dir := range []string{killed, young, old} {
		golden.Must(t, os.Mkdir(dir, 0o700))
	}
	golden.Write(t, filepath.Join(killed, "lock"), "")
	long := time.Now().Add(-2 * making)
	golden.Must(t, os.Chtimes(old, long, long))
	other, removeOther, err := Folder("other")
	golden.Must(t, err)
	for dir, want := range map[string]bool{used: true, young: true, other: true, killed: false, old: false} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", filepath.Base(dir), err == nil, want)
		}
	}
	for _, remove := range []func() error{remove, removeOther} {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, prefix+"*")); len(left) != 1 { // the young one
		t.Errorf("left: %v", left)
	}
}

// Only folders with the same prefix are removed.
func TestIn(t *testing.T) {
	in := t.TempDir()
	used, remove, err := In(in, "build-")
	golden.Must(t, err)
	paths := map[string]string{}
	for _, name := range []string{"build-killed", "build-young", "build-old", "other"} {
		paths[name] = filepath.Join(in, name)
		golden.Must(t, os.Mkdir(paths[name], 0o700))
	}
	for _, name := range []string{"build-killed", "other"} {
		golden.Write(t, filepath.Join(paths[name], "lock"), "")
	}
	long := time.Now().Add(-2 * making)
	golden.Must(t, os.Chtimes(paths["build-old"], long, long))
	second, removeSecond, err := In(in, "build-")
	golden.Must(t, err)
	for dir, want := range map[string]bool{
		used: true, second: true, paths["build-young"]: true, paths["other"]: true,
		paths["build-killed"]: false, paths["build-old"]: false,
	} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", filepath.Base(dir), err == nil, want)
		}
	}
	for _, remove := range []func() error{remove, removeSecond} {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(in); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// Another process may sweep while the folder is made: when it has no lock yet, or just before it has one.
func TestSweepWhileAFolderIsMade(t *testing.T) {
	parent := t.TempDir()
	var swept []string
	dir, remove, err := folder(parent, "new-", func(dir string) (*os.File, error) {
		swept = append(swept, dir)
		switch len(swept) {
		case 1: // the other process has the lock
			held, err := folders.Lock(dir)
			if err != nil {
				return nil, err
			}
			defer held.Close()
			return folders.Lock(dir)
		case 2: // it has removed the folder
			held, err := folders.Lock(dir)
			if err != nil {
				return nil, err
			}
			return held, os.RemoveAll(dir)
		}
		return folders.Lock(dir)
	})
	golden.Must(t, err)
	if len(swept) != 3 || dir != swept[2] {
		t.Errorf("got %s after %v", dir, swept)
	}
	if _, err := folders.LockAgain(dir); err == nil {
		t.Error("it is not locked")
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
}
