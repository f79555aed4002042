package releases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestConcurrentEnsureBuildsOnce(t *testing.T) {
	g, cache := newFakeGo(t), t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		s := newStore(t, Options{CacheDir: cache, Source: Build, Go: g.path}) // as in another process
		group.Go(func() {
			b, err := s.Ensure(t.Context(), "1.34.4")
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := programVersion(t.Context(), b.Path("kube-apiserver")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := g.calls(t, "build"); n != 1 {
		t.Errorf("built %d times", n)
	}
}

func TestLockWaitsAndGivesUpWhenCancelled(t *testing.T) {
	s := newStore(t, Options{CacheDir: t.TempDir()})
	e, heard := s.entry(mustExact(t, "1.34.4")), new(said)
	unlock, err := e.lock(t.Context(), lockName, heard.progress)
	golden.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = e.lock(ctx, lockName, func(string, ...any) { cancel() }) // it reports that it waits, and is cancelled
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	waited := make(chan error)
	go func() {
		second, err := e.lock(t.Context(), lockName, func(string, ...any) { unlock() })
		if err == nil {
			second()
		}
		waited <- err
	}()
	if err := <-waited; err != nil {
		t.Errorf("did not get the lock after it was given up: %v", err)
	}
}

func TestDamagedProgramIsGotAgain(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"changed": func(t *testing.T, path string) { golden.Write(t, path, "#!/bin/sh\necho Kubernetes v6.6.6\n") },
		"cut":     func(t *testing.T, path string) { golden.Must(t, os.Truncate(path, 10)) },
		"gone":    func(t *testing.T, path string) { golden.Must(t, os.Remove(path)) },
		"changed, of the same size": func(t *testing.T, path string) {
			text := []byte(golden.Read(t, path))
			text[len(text)-2] = '9'
			golden.Write(t, path, string(text))
			golden.Must(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newFakeGo(t)
			s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path})
			path := mustEnsure(t, s, "1.34.4").Path("kube-scheduler")
			good := golden.Read(t, path)
			damage(t, path)
			mustEnsure(t, s, "1.34.4")
			if golden.Read(t, path) != good {
				t.Error("the damaged program is still there")
			}
			if n := g.calls(t, "build"); n != 2 {
				t.Errorf("built %d times", n)
			}
		})
	}
}

func TestTouchedProgramIsRecordedAnew(t *testing.T) {
	g := newFakeGo(t)
	s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path})
	b := mustEnsure(t, s, "1.34.4")
	golden.Must(t, os.Chtimes(b.Path("kube-scheduler"), time.Time{}, time.Unix(1, 0)))
	golden.Must(t, os.Chmod(b.Path("kube-apiserver"), 0o644))
	mustEnsure(t, s, "1.34.4")
	if n := g.calls(t, "build"); n != 1 {
		t.Errorf("built %d times", n)
	}
	lacking, err := s.entry(mustExact(t, "1.34.4")).lacking([]string{"kube-scheduler", "kube-apiserver"})
	if err != nil || len(lacking) > 0 {
		t.Errorf("lacking %v, %v", lacking, err)
	}
	if source := mustManifest(t,
		b.Dir).Programs["kube-scheduler"].Source; source != "built from k8s.io/kubernetes v1.34.4" {
		t.Errorf("its source is now %q", source)
	}
}

func TestBrokenManifestIsMadeAnew(t *testing.T) {
	g, heard := newFakeGo(t), new(said)
	s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path, Progress: heard.progress})
	b := mustEnsure(t, s, "1.34.4")
	golden.Write(t, filepath.Join(b.Dir, manifestName), `{"version":`)
	mustEnsure(t, s, "1.34.4")
	if n := g.calls(t, "build"); n != 2 || !heard.contains("broken manifest") {
		t.Errorf("built %d times; said %q", n, heard.lines)
	}
	mustManifest(t, b.Dir)
}

func TestProgramsOutsideTheManifestDoNotCount(t *testing.T) {
	g := newFakeGo(t)
	s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: g.path})
	dir := s.entry(mustExact(t, "1.34.4")).dir
	golden.Write(t, filepath.Join(dir, "kube-apiserver"), "half of a progr")
	b := mustEnsure(t, s, "1.34.4")
	if golden.Read(t, b.Path("kube-apiserver")) == "half of a progr" {
		t.Error("took a program that nobody recorded")
	}
}

func TestLeftoversOfKilledRunsAreRemoved(t *testing.T) {
	s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: newFakeGo(t).path})
	e := s.entry(mustExact(t, "1.34.4"))
	golden.Write(t, filepath.Join(e.home, tempPrefix+"123", "kube-apiserver"), "half")
	golden.Write(t, filepath.Join(e.dir, tempPrefix+"456"), "half")
	mustEnsure(t, s, "1.34.4")
	wantNoLeftovers(t, s, "1.34.4")
}

func TestEnsureRejects(t *testing.T) {
	s := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: newFakeGo(t).path})
	_, err := s.Ensure(t.Context(), "1.34")
	golden.Error(t, err, `version "1.34" is not one release`)
	_, err = s.Ensure(t.Context(), "newest")
	golden.Error(t, err, `version "newest"`)
	_, err = s.Ensure(t.Context(), "1.34.4", "../../../bin/sh")
	golden.Error(t, err, `no program of Kubernetes is called "../../../bin/sh"`, "kubectl")
}

func TestNewRejects(t *testing.T) {
	_, err := New(Options{CacheDir: "x", Source: "guess"})
	golden.Error(t, err, `source "guess"`)
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	_, err = New(Options{})
	golden.Error(t, err, "set XDG_CACHE_HOME")
}

func mustManifest(t *testing.T, dir string) manifest {
	t.Helper()
	m, err := readManifest(dir)
	golden.Must(t, err)
	return m
}
