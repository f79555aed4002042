package releases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// bundleOf writes the bundle of a version from a store's cache to a folder, as in an image.
func bundleOf(t *testing.T, s *Store, version string) string {
	t.Helper()
	at := time.Date(2026, 3, 4, 5, 6, 7, 800, time.UTC)
	files, err := s.Bundle(t.Context(), version, s.platform, at)
	golden.Must(t, err)
	dir := t.TempDir()
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		data, mode := file.Data, os.FileMode(0o644)
		if file.Path != "" {
			data, mode = []byte(golden.Read(t, file.Path)), 0o755
		}
		golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		golden.Must(t, os.WriteFile(path, data, mode))
		golden.Must(t, os.Chtimes(path, at, at.Truncate(time.Second)))
	}
	return dir
}

// A bundle needs neither the network nor the Go tool, and nothing is written to it.
func TestBundle(t *testing.T) {
	made := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: newFakeGo(t).withFeatures(t).path})
	mustEnsure(t, made, "1.34.9")
	dir := bundleOf(t, made, "1.34.9")
	host := newHost(t, "1.34.10")
	s := newStore(t, Options{CacheDir: t.TempDir(), BundleDir: dir, BaseURL: host.URL, Go: "/nonexistent"})
	if v, err := s.Resolve(t.Context(), "1.34"); err != nil || v != "1.34.9" {
		t.Errorf("1.34 is %s, %v", v, err)
	}
	if b := mustEnsure(t, s, "1.34.9"); !strings.HasPrefix(b.Dir, dir) {
		t.Errorf("the programs are those of %s", b.Dir)
	}
	if list, err := s.FeatureList(t.Context(), "1.34.9"); err != nil || len(list.Programs) != 3 {
		t.Errorf("gates: %+v, %v", list, err)
	}
	if versions := s.CachedVersions(); len(versions) != 1 || versions[0].String() != "1.34.9" {
		t.Errorf("there are %v", versions)
	}
	if host.asked() != 0 {
		t.Error("the network was asked")
	}
	left, err := filepath.Glob(filepath.Join(dir, "kubernetes", "*", "*"))
	golden.Must(t, err)
	if len(left) != 2 {
		t.Errorf("there are %s, want the list and the programs", left)
	}
}

// Programs of another platform are stored beside those of this one, and get into a bundle for that platform. They are
// not started: here they report another version.
func TestBundleForAnotherPlatform(t *testing.T) {
	g := newFakeGo(t).withFeatures(t)
	cache := t.TempDir()
	mustEnsure(t, newStore(t, Options{CacheDir: cache, Source: Build, Go: g.path}), "1.34.9")
	g.write(t, "stamp", "v9.9.9")
	foreign := newStore(t, Options{CacheDir: cache, Source: Build, Go: g.path, Platform: "linux-riscv64"})
	if b := mustEnsure(t, foreign, "1.34.9"); filepath.Base(b.Dir) != "linux-riscv64" {
		t.Errorf("the programs are in %s", b.Dir)
	}
	if platform := golden.Read(t, filepath.Join(g.dir, "built.platform")); platform != "linux-riscv64\n" {
		t.Errorf("they are built for %s", platform)
	}
	if _, err := foreign.FeatureList(t.Context(), "1.34.9"); err != nil {
		t.Errorf("the gates of the version: %v", err)
	}
	made := newStore(t, Options{CacheDir: cache, Go: g.path})
	files, err := made.Bundle(t.Context(), "1.34.9", "linux-riscv64", time.Now())
	golden.Must(t, err)
	if files[0].Name != "kubernetes/v1.34.9/linux-riscv64/kube-apiserver" ||
		!strings.Contains(golden.Read(t, files[0].Path), "v9.9.9") {
		t.Errorf("the bundle has %+v", files[0])
	}
}

// What a bundle does not have is downloaded as without a bundle.
func TestBundleThatLacksSomething(t *testing.T) {
	made := newStore(t, Options{CacheDir: t.TempDir(), Source: Build, Go: newFakeGo(t).withFeatures(t).path})
	mustEnsure(t, made, "1.34.9")
	dir := bundleOf(t, made, "1.34.9")
	for _, what := range []struct {
		name     string
		version  string
		programs []string
		change   func()
	}{
		{name: "another version", version: "1.34.0"},
		{name: "another program", version: "1.34.9", programs: []string{"kubectl"}},
		{name: "a changed program", version: "1.34.9", change: func() {
			golden.Write(t, filepath.Join(dir, "kubernetes", "v1.34.9", made.platform, "kube-scheduler"), "#!/bin/sh\n")
		}},
	} {
		cache, host := t.TempDir(), newHost(t, "v"+what.version)
		if what.change != nil {
			what.change()
		}
		s := newStore(t, Options{CacheDir: cache, BundleDir: dir, BaseURL: host.URL})
		b, err := s.Ensure(t.Context(), what.version, what.programs...)
		if err != nil || !strings.HasPrefix(b.Dir, cache) {
			t.Errorf("%s: %+v, %v", what.name, b, err)
		}
	}
	_, err := made.Bundle(t.Context(), "1.34.9", "linux-sparc", time.Now())
	golden.Error(t, err, "the cache has no Kubernetes 1.34.9 for linux-sparc",
		"rehearse fetch --platform linux/sparc 1.34.9")
}

func TestNoControlPlaneOutsideOfLinux(t *testing.T) {
	s := newStore(t, Options{CacheDir: t.TempDir(), BaseURL: newHost(t, "v1.34.4").URL})
	s.platform = "darwin-arm64"
	_, err := s.Ensure(t.Context(), "1.34.4")
	golden.Error(t, err, "this is darwin-arm64: use a Linux machine")
	if v, err := s.Resolve(t.Context(), "1.34"); err != nil || v != "1.34.4" {
		t.Errorf("1.34 is %s, %v: a plan needs it on every system", v, err)
	}
}
