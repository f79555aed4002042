package nodeimage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	// suite is the Debian release. Its systemd still boots on a host with cgroup v1.
	suite = "bookworm"
	// kindVersion is the version of kind whose base image is followed; the same as the library's in go.mod.
	kindVersion = "v0.33.0"
)

// packages are the packages of a node, besides Debian's minimal base.
var packages = []string{
	"systemd", "systemd-sysv", "dbus",
	"conntrack", "iptables", "nftables", "iproute2", "ethtool", "socat", "util-linux", "mount", "kmod",
	"libseccomp2", "ca-certificates", "jq", "procps",
	"runc", "containerd", "containernetworking-plugins",
	"busybox-static",
}

// base is the tree of a node without Kubernetes, and its layer.
type base struct {
	rootfs string
	layer  layer
}

// base returns the tree that all node images share, from the cache or newly made. The caller holds the lock.
func (b *Builder) base(ctx context.Context, kindFiles string) (base, error) {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{recipe, suite, kindVersion, runtime.GOARCH}, packages...),
		" ")))
	dir := filepath.Join(b.CacheDir, "base-"+hex.EncodeToString(sum[:8]))
	made := base{rootfs: filepath.Join(dir, "rootfs")}
	data, err := os.ReadFile(filepath.Join(dir, layerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return made, err
	}
	var known struct {
		Digest string
		Size   int64
	}
	if err == nil && json.Unmarshal(data, &known) == nil && known.Digest != "" { // a broken file is made anew
		made.layer = layer{path: filepath.Join(dir, "layer.tar"), digest: known.Digest, size: known.Size}
		return made, nil
	}
	if err := b.removeBases(); err != nil { // those of other recipes, and left-overs of an interrupted build
		return made, err
	}
	if err := b.debootstrap(ctx, made.rootfs); err != nil {
		return made, err
	}
	b.Progress("making a node of it")
	if err := makeNodeTree(ctx, made.rootfs, kindFiles); err != nil {
		return made, fmt.Errorf("make a node of the Debian tree: %w", err)
	}
	if made.layer, err = baseLayer(made.rootfs, filepath.Join(dir, "layer.tar")); err != nil {
		return made, err
	}
	if data, err = json.Marshal(map[string]any{"Digest": made.layer.digest, "Size": made.layer.size}); err != nil {
		return made, err
	}
	return made, replaceFile(filepath.Join(dir, layerFile), data)
}

// layerFile describes a finished layer in its folder.
const layerFile = "layer.json"

// replaceFile writes a file, which appears complete or not at all.
func replaceFile(path string, data []byte) error {
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func (b *Builder) removeBases() error {
	entries, err := os.ReadDir(b.CacheDir)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "base-") {
			continue
		}
		dir := filepath.Join(b.CacheDir, entry.Name())
		if mounted := unmount(dir); mounted != nil {
			err = errors.Join(err, mounted)
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return fmt.Errorf("remove old Debian trees from the cache: %w", err)
	}
	return nil
}

func (b *Builder) debootstrap(ctx context.Context, rootfs string) error {
	if os.Geteuid() != 0 {
		return errors.New("making a Debian tree needs root: run rehearse node-images with sudo")
	}
	path, err := exec.LookPath("debootstrap")
	if err != nil {
		return errors.New("debootstrap is not on the PATH: install it (sudo apt-get install debootstrap)")
	}
	if err := os.MkdirAll(rootfs, 0o755); err != nil {
		return fmt.Errorf("make the folder of the Debian tree: %w", err)
	}
	b.Progress("getting Debian %s and %d packages (about a minute)", suite, len(packages))
	arguments := []string{"--variant=minbase", "--include=" + strings.Join(packages, ","), suite, rootfs}
	if b.Mirror != "" {
		// Without Debian's keys, debootstrap would install whatever the mirror has. Its own mirror has a certificate.
		arguments = append([]string{"--force-check-gpg"}, append(arguments, b.Mirror)...)
	}
	_, err = run(ctx, program(ctx, path, arguments...), runIsolated)
	if err != nil && strings.Contains(err.Error(), "Keyring-based check was requested") {
		return fmt.Errorf("the packages of mirror %s cannot be verified, because Debian's keys are missing: install them "+
			"(sudo apt-get install debian-archive-keyring): %w", b.Mirror, err)
	}
	return err
}

// baseLayer packs the tree without files that differ from build to build.
func baseLayer(rootfs, path string) (layer, error) {
	skipped := []string{
		"dev/", "proc/", "sys/", "run/", "tmp/", "var/cache/", "var/lib/apt/lists/", "var/log/",
		"usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/info/",
	}
	w, err := newLayer(path)
	if err != nil {
		return layer{}, err
	}
	err = w.tree(rootfs, "", func(name string) bool {
		for _, prefix := range skipped {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return strings.HasSuffix(name, ".dpkg-old") || name == "etc/machine-id" || name == "var/lib/dbus/machine-id"
	})
	l, closeErr := w.close()
	if err := errors.Join(err, closeErr); err != nil {
		return l, fmt.Errorf("pack the Debian tree: %w", err)
	}
	return l, nil
}

// outputTimeout is how long to wait for the output of a program that has ended, if its children keep it open.
const outputTimeout = 5 * time.Second

// program returns a command with an environment that does not depend on the user.
func program(ctx context.Context, path string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, path, args...)
	command.WaitDelay = outputTimeout
	command.Env = []string{"PATH=" + defaultPath, "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", "HOME=/root"}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		if value, set := os.LookupEnv(name); set {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	return command
}

// output runs a program and returns its standard output. An error contains its last lines.
func output(ctx context.Context, path string, args ...string) (string, error) {
	return run(ctx, program(ctx, path, args...), (*exec.Cmd).Run)
}

// run is output for a command and the way to run it.
func run(ctx context.Context, command *exec.Cmd, way func(*exec.Cmd) error) (string, error) {
	var out, all bytes.Buffer
	command.Stdout, command.Stderr = &tee{&out, &all}, &all
	if err := way(command); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		args, lines := command.Args, strings.Split(strings.TrimSpace(all.String()), "\n")
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(args[0]), strings.Join(args[1:min(3, len(args))], " "), err,
			strings.Join(lines[max(0, len(lines)-5):], " / "))
	}
	return out.String(), nil
}

// runIsolated runs a program that ends with its mounts and children.
func runIsolated(command *exec.Cmd) error {
	ended, err := startIsolated(command)
	if err != nil {
		return err
	}
	return <-ended
}

// startIsolated starts a program that ends with its mounts and children. Its thread is kept until then.
func startIsolated(command *exec.Cmd) (ended <-chan error, err error) {
	isolate(command)
	started, done := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			done <- command.Wait()
		}
	}()
	return done, <-started
}

type tee struct{ a, b *bytes.Buffer }

func (t *tee) Write(p []byte) (int, error) {
	t.a.Write(p)
	return t.b.Write(p)
}
