package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// startTimeout is how long containerd may take to answer.
const startTimeout = time.Minute

// storeConfig disables the plugins of containerd that an import does not need.
const storeConfig = `version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt", "io.containerd.internal.v1.restart", "io.containerd.tracing.processor.v1.otlp", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
`

// containerdStore imports the component images with the node's own containerd, which runs in the node's tree. It
// returns the folder that becomes the node's /var/lib/containerd.
func (p parts) containerdStore(ctx context.Context, b base, work string) (string, error) {
	images, err := p.componentImages(ctx, b.rootfs, work)
	if err != nil {
		return "", err
	}
	// In the node's tree, containerd runs in its own folder.
	inside, remove, err := scratch.In(filepath.Join(b.rootfs, "tmp"), "build-")
	if err != nil {
		return "", err
	}
	defer func() { _ = remove() }() // the next run tries again
	at := "/tmp/" + filepath.Base(inside)
	if err := os.WriteFile(filepath.Join(inside, "config.toml"), []byte(storeConfig), 0o644); err != nil {
		return "", err
	}
	stop, err := startContainerd(ctx, b.rootfs, at)
	if err != nil {
		return "", err
	}
	err = importImages(ctx, b.rootfs, at, images)
	if err := errors.Join(err, stop()); err != nil {
		return "", err
	}
	store := filepath.Join(work, "containerd")
	return store, os.Rename(filepath.Join(inside, "root"), store)
}

func startContainerd(ctx context.Context, rootfs, at string) (stop func() error, err error) {
	var said strings.Builder
	command := exec.CommandContext(ctx, "chroot", rootfs, "containerd", "--config", at+"/config.toml", "--root",
		at+"/root", "--state", at+"/state", "--address", at+"/socket")
	command.Stderr, command.WaitDelay = &said, outputTimeout
	done, err := startIsolated(command)
	if err != nil {
		return nil, fmt.Errorf("start containerd: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if _, err := output(ctx, "chroot", rootfs, "ctr", "--address", at+"/socket", "version"); err == nil {
			return func() error {
				err := command.Process.Signal(os.Interrupt)
				<-done //nolint:errcheck // it ends by a signal, which is no failure
				return err
			}, nil
		}
		select {
		case err := <-done:
			return nil, fmt.Errorf("containerd ended: %w: %s", err, said.String())
		case <-ctx.Done():
			_ = command.Process.Kill()
			<-done //nolint:errcheck // it was killed
			return nil, fmt.Errorf("containerd does not answer: %w: %s", context.Cause(ctx), said.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func importImages(ctx context.Context, rootfs, at string, images []archive) error {
	var said strings.Builder
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(writeArchive(writer, images...)) }()
	command := exec.CommandContext(ctx, "chroot", rootfs, "ctr", "--address", at+"/socket", "--namespace", "k8s.io",
		"images", "import", "--all-platforms", "--no-unpack", "-")
	command.Stdin, command.Stdout, command.Stderr, command.WaitDelay = reader, &said, &said, outputTimeout
	err := command.Run()
	_ = reader.Close()
	if err != nil {
		return fmt.Errorf("import the component images: %w: %s", err, said.String())
	}
	return nil
}

// topLayer makes the layer that differs from version to version.
func (p parts) topLayer(store, path string) (layer, error) {
	w, err := newLayer(path)
	if err != nil {
		return layer{}, err
	}
	errs := []error{w.content("kind/version", "v"+p.version, 0o644)}
	for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
		errs = append(errs, w.copyFile("usr/bin/"+program, p.programs.Path(program), 0o755))
	}
	errs = append(errs, w.folder("var/lib/containerd", 0o711), w.tree(store, "var/lib/containerd", nil))
	l, closeErr := w.close()
	if err := errors.Join(errors.Join(errs...), closeErr); err != nil {
		return l, fmt.Errorf("pack the files of Kubernetes: %w", err)
	}
	return l, nil
}

// realPath follows links relative to the root of the tree.
func realPath(rootfs, name string) (string, error) {
	for range 16 {
		path := filepath.Join(rootfs, name)
		info, err := os.Lstat(path)
		if err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(name), target)
		}
		name = target
	}
	return "", fmt.Errorf("%s: too many links", name)
}
