package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A file that cannot be written whole keeps its old content, and nothing else is left.
func TestWriteReplacesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, ".a.txt.tmp-123"), "half of a")
	golden.Must(t, Write(dir, map[string][]byte{"a.txt": []byte("old"), "sub/b.txt": []byte("b")}))
	a := filepath.Join(dir, "a.txt")
	reader, err := os.Open(a)
	golden.Must(t, err)
	defer reader.Close()
	golden.Must(t, Write(dir, map[string][]byte{"a.txt": []byte("new, and longer")}))
	old := make([]byte, 100)
	if n, _ := reader.Read(old); string(old[:n]) != "old" {
		t.Errorf("a reader of the old file sees %q", old[:n])
	}
	if text, err := os.ReadFile(a); err != nil || string(text) != "new, and longer" {
		t.Errorf("the new file is %q: %v", text, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%v: the folder has %v, want a.txt and sub", err, files)
	}
	if err := Write(a, map[string][]byte{"c.txt": nil}); err == nil {
		t.Error("a file below a file was written")
	}
}

// Two processes that write into one folder would replace each other's reports.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir)
	golden.Must(t, err)
	_, err = Lock(dir)
	golden.Error(t, err, "another rehearse writes its reports into "+dir, "another folder for the reports")
	unlock()
	unlock, err = Lock(dir)
	golden.Must(t, err)
	unlock()
}
