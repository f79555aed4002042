package nodeimage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// makeNodeTree turns a Debian tree into a node, with kind's own files and the steps of kind's recipe for its base
// image.
func makeNodeTree(ctx context.Context, rootfs, kindFiles string) error {
	in := func(name string) string { return filepath.Join(rootfs, name) }
	steps := []func() error{
		func() error { return copyTree(kindFiles, rootfs) },
		func() error { return makeExecutable(in("usr/local/bin"), in("kind/bin")) },
		func() error { return removeUnits(rootfs) },
		func() error { return undate(in("etc/shadow"), in("etc/shadow-")) },
		func() error { return configure(rootfs) },
		func() error { return enableUnits(ctx, rootfs) },
		func() error { return writeContainerSpec(ctx, rootfs) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies files and makes them readable for all; modes in the module cache mean nothing.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

func makeExecutable(folders ...string) error {
	for _, folder := range folders {
		files, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.Chmod(filepath.Join(folder, file.Name()), 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// passwordDay matches a line of /etc/shadow up to its third field, the day of the last password change.
var passwordDay = regexp.MustCompile(`(?m)^([^:\n]*:[^:\n]*:)\d+:`)

// undate removes the day of the build from password files, so that the image is the same on every day.
func undate(files ...string) error {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, passwordDay.ReplaceAll(data, []byte("${1}1:")), 0o640); err != nil {
			return err
		}
	}
	return nil
}

// removeUnits removes units that systemd would start and a node does not need.
func removeUnits(rootfs string) error {
	for _, pattern := range []string{
		"lib/systemd/system/multi-user.target.wants/*", "lib/systemd/system/local-fs.target.wants/*",
		"lib/systemd/system/sockets.target.wants/*udev*",
		"lib/systemd/system/sockets.target.wants/*initctl*", "lib/systemd/system/basic.target.wants/*",
		"lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
		"etc/systemd/system/*.wants/*", "lib/systemd/system/containerd.service", "usr/lib/systemd/system/containerd.service",
	} {
		found, err := filepath.Glob(filepath.Join(rootfs, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// network gives a node's pods addresses and routes. The first node of a cluster uses it unchanged when it boots,
// because its pods have the first addresses. So plain kind can use the image for clusters of one node. The kind
// provider gives the other nodes their addresses, and all nodes the routes to each other.
const network = `{"cniVersion": "0.4.0", "name": "rehearse", "plugins": [
  {"type": "ptp", "ipMasq": true, "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam-state",
    "ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}
]}
`

// networkUnit gives the first node its network.
const networkUnit = `[Unit]
Description=network of the first node
Before=kubelet.service containerd.service

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'case "$(hostname)" in *-control-plane) cp ` + NetworkFile + ` /etc/cni/net.d/10-rehearse.conflist;; esac'

[Install]
WantedBy=multi-user.target
`

// kind applies these two at creation. The network exists already, and nothing here provisions volumes.
const (
	networkManifest = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "network", "namespace": "kube-system"}, "data": {"about": "built into the node image"}}
`
	storageManifest = `{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "kubernetes.io/host-path"}
`
)

func configure(rootfs string) error {
	for _, folder := range []string{"etc/kubernetes/manifests", "opt/cni/bin", "etc/cni/net.d", "kind/manifests"} {
		if err := os.MkdirAll(filepath.Join(rootfs, folder), 0o755); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{
		NetworkFile: network, "etc/systemd/system/rehearse-network.service": networkUnit,
		"kind/manifests/default-cni.yaml": networkManifest, "kind/manifests/default-storage.yaml": storageManifest,
		"etc/hostname": "node\n", "etc/resolv.conf": "",
	} {
		if err := os.WriteFile(filepath.Join(rootfs, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	plugins, err := os.ReadDir(filepath.Join(rootfs, "usr/lib/cni"))
	if err != nil {
		return err
	}
	links := map[string]string{"sbin/init": "/usr/lib/systemd/systemd", "usr/local/bin/containerd": "/usr/bin/containerd"}
	for _, plugin := range plugins {
		links["opt/cni/bin/"+plugin.Name()] = "/usr/lib/cni/" + plugin.Name()
	}
	for name, target := range links {
		path := filepath.Join(rootfs, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	if err := edit(filepath.Join(rootfs, "etc/systemd/journald.conf"), "[Journal]", "[Journal]\nReadKMsg=no"); err != nil {
		return err
	}
	// Some hosts do not permit lowering an oom score; this works on all hosts.
	return edit(filepath.Join(rootfs, "etc/containerd/config.toml"), "restrict_oom_score_adj = false",
		"restrict_oom_score_adj = true")
}

// edit replaces a text that must exist.
func edit(path, old, replacement string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(data, []byte(old)) {
		return fmt.Errorf("%s has no %q: it is not the file that this was written for", path, old)
	}
	return os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(replacement), 1), 0o644)
}

func enableUnits(ctx context.Context, rootfs string) error {
	if _, err := output(ctx, "chroot", rootfs, "systemctl", "--quiet", "enable", "kubelet.service", "containerd.service",
		"undo-mount-hacks.service", "rehearse-network.service"); err != nil {
		return err
	}
	_, err := output(ctx, "chroot", rootfs, "systemctl", "--quiet", "mask", "systemd-binfmt.service")
	return err
}

// writeContainerSpec writes the specification from which containerd starts every container, with kind's hook and
// without resource limits.
func writeContainerSpec(ctx context.Context, rootfs string) error {
	out, err := output(ctx, "chroot", rootfs, "ctr", "oci", "spec")
	if err != nil {
		return err
	}
	var spec map[string]any
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.UseNumber()
	if err := decoder.Decode(&spec); err != nil {
		return fmt.Errorf("read the container specification of containerd: %w", err)
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return errors.New("the container specification of containerd has no process")
	}
	delete(process, "rlimits")
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]any{"path": "/kind/bin/mount-product-files.sh"}}}
	data, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(rootfs, "etc/containerd/cri-base.json"), data, 0o644)
}
