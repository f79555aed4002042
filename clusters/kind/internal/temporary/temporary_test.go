package temporary

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder in use stays. A folder of a killed run, whose lock is free, goes, and so does an old one without a lock.
func TestFolder(t *testing.T) {
	in := t.TempDir()
	used, remove, err := Folder(in, "build-")
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, name := range []string{"build-killed", "build-young", "build-old", "other"} {
		paths[name] = filepath.Join(in, name)
		if err := os.Mkdir(paths[name], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"build-killed", "other"} {
		if err := os.WriteFile(filepath.Join(paths[name], "lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * making)
	if err := os.Chtimes(paths["build-old"], long, long); err != nil {
		t.Fatal(err)
	}
	second, removeSecond, err := Folder(in, "build-")
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		used: true, second: true, paths["build-young"]: true, paths["other"]: true,
		paths["build-killed"]: false, paths["build-old"]: false,
	} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", filepath.Base(dir), err == nil, want)
		}
	}
	remove()
	removeSecond()
	if left, _ := os.ReadDir(in); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}
