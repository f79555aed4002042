package local

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "a", "copy")
	files := map[string][]byte{
		"db":         append(bytes.Repeat([]byte("x"), 70_000), make([]byte, 500_000)...),
		"wal/0.wal":  make([]byte, 300_001),
		"wal/1.wal":  append(make([]byte, 200_000), []byte("end")...),
		"snap/empty": nil,
	}
	for name, content := range files {
		path := filepath.Join(from, name)
		golden.Write(t, path, content)
	}
	golden.Must(t, copyTree(from, to))
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want the same %d", name, len(got), err, len(want))
		}
	}
	if err := copyTree(from, to); err == nil {
		t.Error("a copy was written over another")
	}
}
