package kind

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A cluster of another engine than the one that is found is neither lost nor taken for removed: while its engine does
// not answer, its folder stays. Later, its own engine removes it.
func TestAnotherEngine(t *testing.T) {
	bin, asked := t.TempDir(), filepath.Join(t.TempDir(), "asked")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	write := func(program, script string) {
		text := "#!/bin/sh\necho \"" + program + " $1\" >> " + asked + "\n" + script
		golden.Write(t, filepath.Join(bin, program), text)
	}
	write("docker", "exit 0")
	write("podman", "echo 'cannot connect' >&2; exit 1")
	p := New(Options{CacheDir: t.TempDir()})
	p.engine = func(context.Context) (*engine.Engine, error) { return &engine.Engine{Program: "docker"}, nil }
	made := func(name string, use func(*record.Record) error) string {
		dir := filepath.Join(p.Root, name)
		golden.Must(t, os.MkdirAll(dir, 0o700))
		r, err := record.New(dir, name, clusters.State{Version: "1.35.4"})
		golden.Must(t, err)
		golden.Must(t, use(r))
		return dir
	}
	theirs := made("theirs", func(r *record.Record) error { return r.UseEngine("podman", "/storage") })
	old := made("old", func(*record.Record) error { return nil })
	gone := func(dir string) bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	}
	const want = "reach the engine of cluster theirs: podman"
	err := p.Sweep(t.Context())
	golden.Error(t, err, want)
	if gone(theirs) || !gone(old) {
		t.Errorf("while podman is away: theirs is gone: %t, the one of an old record is gone: %t", gone(theirs), gone(old))
	}
	_, err = p.Open(t.Context(), "theirs")
	golden.Error(t, err, want)
	_, err = p.Describe(t.Context(), "theirs")
	golden.Error(t, err, want)
	write("podman", "[ $1 != info ] || echo /storage")
	if _, err := p.Describe(t.Context(), "theirs"); err != nil {
		t.Error(err)
	}
	golden.Must(t, os.Remove(asked))
	if err := p.Sweep(t.Context()); err != nil || !gone(theirs) {
		t.Errorf("got %v, gone: %t", err, gone(theirs))
	}
	if said, err := os.ReadFile(asked); err != nil || strings.Contains(string(said), "docker") {
		t.Errorf("another engine was asked: %v\n%s", err, said)
	}
}
