package nodeimage

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// asRoot skips the test unless it may make namespaces, as debootstrap must.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if !mayIsolate() {
		t.Skip("this machine allows no namespaces")
	}
}

// mountingScript mounts something on $1, starts a child that keeps the pipe $2 open, and waits for it.
const mountingScript = `mount -t tmpfs none "$1"
sh -c 'exec 3> "$0"; echo >&3; while :; do sleep 60; done' "$2" &
wait`

// pipe makes a pipe, and returns a function that opens it: it waits for a writer.
func pipe(t *testing.T) (path string, open func() *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	golden.Must(t, syscall.Mkfifo(path, 0o600))
	return path, func() *os.File {
		file, err := os.Open(path)
		golden.Must(t, err)
		t.Cleanup(func() { _ = file.Close() })
		if _, err := io.ReadFull(file, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return file
	}
}

func mounted(t *testing.T, path string) bool {
	t.Helper()
	return slices.Contains(mountPoints(golden.Read(t, "/proc/self/mountinfo")), path)
}

// An interrupted build leaves neither mounts nor processes, and its mounts are never visible.
func TestIsolated(t *testing.T) {
	asRoot(t)
	dir := t.TempDir()
	path, open := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended, err := startIsolated(program(ctx, "sh", "-ec", mountingScript, "sh", dir, path))
	golden.Must(t, err)
	file := open()
	if mounted(t, dir) {
		t.Error("its mount is visible")
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("an interrupted program succeeded")
	}
	if _, err := io.ReadAll(file); err != nil { // ends when its child has ended
		t.Error(err)
	}
}

// TestIsolatedEndsWithItsParent kills a builder: nothing that it started goes on.
func TestIsolatedEndsWithItsParent(t *testing.T) {
	const folder, output = "REHEARSE_TEST_FOLDER", "REHEARSE_TEST_PIPE"
	if path := os.Getenv(output); path != "" { // the builder
		t.Log(runIsolated(program(t.Context(), "sh", "-ec", mountingScript, "sh", os.Getenv(folder), path)))
		return
	}
	asRoot(t)
	self, err := os.Executable()
	golden.Must(t, err)
	path, open := pipe(t)
	builder := exec.CommandContext(t.Context(), self, "-test.run", "^"+t.Name()+"$")
	builder.Env = append(os.Environ(), folder+"="+t.TempDir(), output+"="+path)
	golden.Must(t, builder.Start())
	file := open()
	golden.Must(t, builder.Process.Kill())
	if err := builder.Wait(); err == nil {
		t.Error("a killed builder succeeded")
	}
	if _, err := io.ReadAll(file); err != nil { // ends when the child has ended
		t.Error(err)
	}
}

// The mounts of an interrupted build of an older version do not hinder the next one, and nothing is removed through
// them.
func TestMountsOfAnOldBuild(t *testing.T) {
	asRoot(t)
	cache, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	golden.Write(t, precious, "")
	point := filepath.Join(cache, "base-1", "rootfs", "my dev")
	golden.Must(t, os.MkdirAll(point, 0o700))
	golden.Must(t, syscall.Mount(filepath.Dir(precious), point, "", syscall.MS_BIND, ""))
	t.Cleanup(func() { _ = syscall.Unmount(point, syscall.MNT_DETACH) })
	if err := New(Options{CacheDir: cache}).removeBases(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(cache); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

// Packages of a mirror are verified, or not installed.
func TestMirrorWithoutKeys(t *testing.T) {
	asRoot(t)
	bin := t.TempDir()
	const script = `#!/bin/sh
case "$*" in
*--force-check-gpg*http://mirror) echo "E: Keyring-based check was requested; aborting accordingly" >&2; exit 1 ;;
*http://mirror) echo "W: Cannot check Release signature" >&2 ;;
esac
`
	golden.Write(t, filepath.Join(bin, "debootstrap"), script)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	rootfs := filepath.Join(t.TempDir(), "rootfs")
	err := New(Options{Mirror: "http://mirror"}).debootstrap(t.Context(), rootfs)
	golden.Error(t, err, "sudo apt-get install debian-archive-keyring")
	if err := New(Options{}).debootstrap(t.Context(), rootfs); err != nil {
		t.Errorf("debootstrap's own mirror: %v", err)
	}
}
