package releases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// An incomplete copy of a module never is in its place: there, it would count as a part of the module around it.
func TestPlaceModule(t *testing.T) {
	entry, from := t.TempDir(), t.TempDir()
	l := layout{dir: filepath.Join(entry, sourceName)}
	to := filepath.Join(l.dir, "cmd", "controller")
	golden.Write(t, filepath.Join(from, "main.go"), says("x"))
	golden.Write(t, filepath.Join(from, "go.mod", "file"), "a folder cannot be copied like a file")
	if err := l.place(from, to); err == nil {
		t.Fatal("the copy succeeded")
	}
	if left, err := os.ReadDir(entry); err != nil || len(left) != 0 {
		t.Errorf("an incomplete copy leaves %v, %v", left, err)
	}
	golden.Must(t, os.RemoveAll(filepath.Join(from, "go.mod")))
	golden.Write(t, filepath.Join(from, "go.mod"), "module example.com/m/cmd/controller\n")
	golden.Must(t, l.place(from, to))
	for file, want := range map[string]string{"go.mod": "module example.com/m/cmd/controller\n", "main.go": says("x")} {
		if got := golden.Read(t, filepath.Join(to, file)); got != want {
			t.Errorf("%s holds %q", file, got)
		}
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("its folder: %v, %v", info.Mode(), err)
	}
	// The folder around it may be a module, too.
	golden.Must(t, l.place(from, filepath.Dir(to)))
	for _, file := range []string{"main.go", "controller/main.go"} {
		if got := golden.Read(t, filepath.Join(l.dir, "cmd", file)); got != says("x") {
			t.Errorf("%s holds %q", file, got)
		}
	}
	if left, err := os.ReadDir(entry); err != nil || len(left) != 1 {
		t.Errorf("beside the module there are %v, %v", left, err)
	}
}

// Two programs of a module never have the same name.
func TestProgramName(t *testing.T) {
	names := map[string]string{}
	for _, folder := range []string{"", "cmd/operator", "cmd-operator", "op", "cmd/op-1", "cmd-op/1"} {
		name := programName(clusters.ModuleProgram{Path: "example.com/op/v2", Version: "v2.0.0", Package: folder})
		if other, taken := names[name]; taken || strings.ContainsAny(name, "/ ") {
			t.Errorf("%q and %q are both %s", other, folder, name)
		}
		names[name] = folder
	}
	if names["op"] != "" || names["cmd-operator"] != "cmd/operator" {
		t.Errorf("got %v", names)
	}
}
