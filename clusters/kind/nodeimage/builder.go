// Package nodeimage builds the node images of kind clusters from Debian packages and Go modules, without a container
// registry.
package nodeimage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

const (
	// Repository is the repository of the images that are built here. Its host serves no images, so a missing image is
	// never replaced by someone else's.
	Repository = "localhost/rehearse-node"
	// NetworkFile is the path of the pod network configuration in an image. NetworkSubnet in it is replaced by the
	// node's own addresses.
	NetworkFile   = "/kind/network.conflist"
	NetworkSubnet = "10.244.0.0/24"

	// KeyLabel identifies what an image was made from. Only images that are built here have it, and its node images have
	// clusters.PodImage.
	KeyLabel = "dev.rehearse.node-image"
	// recipe changes whenever this package makes a different image of the same inputs.
	recipe = "3"
)

// Tag returns the image tag of a version: "localhost/rehearse-node:v1.34.4".
func Tag(version string) string { return Repository + ":v" + version }

// Programs provides the programs of a Kubernetes version.
type Programs interface {
	Resolve(ctx context.Context, version string) (string, error)
	Ensure(ctx context.Context, version string, programs ...string) (releases.Binaries, error)
}

// Loader loads images: a container engine.
type Loader interface {
	ImageLabel(ctx context.Context, image, label string) (string, error)
	Run(ctx context.Context, s engine.Streams, args ...string) error
}

// Options of a Builder.
type Options struct {
	// CacheDir is the folder for files that are kept between builds; the builder creates it.
	CacheDir string
	// Programs provides Kubernetes' own programs.
	Programs Programs
	// Loader loads the finished images.
	Loader Loader
	// Mirror is the mirror of Debian packages. Default: debootstrap's own choice.
	Mirror string
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
}

// Builder builds node images.
type Builder struct{ Options }

// New returns a builder; it changes nothing yet.
func New(o Options) *Builder {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Builder{Options: o}
}

// nodePrograms are Kubernetes' programs in a node image, besides the control plane.
var nodePrograms = []string{"kubeadm", "kubelet", "kubectl", "kube-proxy"}

// Build ensures that the loader has the image of a version ("1.34" or "1.34.4"), and returns its tag. It does not
// build an image of the same content again.
func (b *Builder) Build(ctx context.Context, version string) (string, error) {
	tag, err := b.build(ctx, version)
	if err != nil {
		return "", fmt.Errorf("build the node image of Kubernetes %s: %w", version, err)
	}
	return tag, nil
}

func (b *Builder) build(ctx context.Context, version string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("node images can be built only on Linux")
	}
	version, err := b.Programs.Resolve(ctx, version)
	if err != nil {
		return "", err
	}
	parts, err := b.gather(ctx, version)
	if err != nil {
		return "", err
	}
	key, err := parts.key()
	if err != nil {
		return "", err
	}
	tag := Tag(version)
	if exists, err := b.exists(ctx, tag, key); exists || err != nil {
		return tag, err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	// The build that had the lock may have built this image.
	if exists, err := b.exists(ctx, tag, key); exists || err != nil {
		return tag, err
	}
	return tag, b.assemble(ctx, parts, tag, key)
}

// exists reports whether the engine has an image of the same inputs.
func (b *Builder) exists(ctx context.Context, tag, key string) (bool, error) {
	present, err := b.Loader.ImageLabel(ctx, tag, KeyLabel)
	if errors.Is(err, engine.ErrNoImage) {
		return false, nil
	}
	if err != nil || present != key {
		return false, err
	}
	b.Progress("%s already exists", tag)
	return true, nil
}

// parts are the inputs of an image.
type parts struct {
	version  string
	programs releases.Binaries
	images   imageVersions
	// etcd, coredns and pause are the paths of those programs.
	etcd, coredns, pause string
	// kindFiles is the folder of the files in kind's own images.
	kindFiles, kindVersion string
}

func (b *Builder) makeCacheDir() error {
	if err := os.MkdirAll(b.CacheDir, 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	return nil
}

// lock locks the cache against other builders on this machine.
func (b *Builder) lock(ctx context.Context) (unlock func(), err error) {
	return folders.Await(ctx, filepath.Join(b.CacheDir, "build.lock"), func() {
		b.Progress("waiting for another build of node images")
	})
}

// gather gets the inputs that take long, one after the other: the Go tool already uses every core.
func (b *Builder) gather(ctx context.Context, version string) (parts, error) {
	p := parts{version: version, kindVersion: kindVersion}
	var err error
	if p.programs, err = b.Programs.Ensure(ctx, version, nodePrograms...); err != nil {
		return p, err
	}
	tool, err := findGo()
	if err != nil {
		return p, err
	}
	if err := b.makeCacheDir(); err != nil {
		return p, err
	}
	if p.kindFiles, err = b.kindFiles(ctx, tool); err != nil {
		return p, err
	}
	kubernetes, err := tool.module(ctx, "k8s.io/kubernetes", "v"+version)
	if err != nil {
		return p, err
	}
	if p.images, err = readImageVersions(kubernetes); err != nil {
		return p, err
	}
	tools := &toolStore{dir: filepath.Join(b.CacheDir, "tools"), tool: tool, progress: b.Progress}
	if p.etcd, err = tools.etcd(ctx, p.images.etcdModule()); err != nil {
		return p, err
	}
	if p.coredns, err = tools.coredns(ctx, p.images.CoreDNS); err != nil {
		return p, err
	}
	p.pause, err = tools.pause(ctx)
	return p, err
}

// key returns a hash of an image's content.
func (p parts) key() (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, recipe, runtime.GOARCH, p.version, p.kindVersion, suite, strings.Join(packages, ","), p.images)
	files := []string{p.etcd, p.coredns, p.pause}
	for _, c := range clusters.ControlPlane() {
		files = append(files, p.programs.Path(string(c)))
	}
	for _, program := range nodePrograms {
		files = append(files, p.programs.Path(program))
	}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(hash, file)
		_ = file.Close()
		if err != nil {
			return "", fmt.Errorf("read %s: %w", path, err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// assemble builds the image from its parts and loads it. The caller holds the lock.
func (b *Builder) assemble(ctx context.Context, p parts, tag, key string) error {
	base, err := b.base(ctx, p.kindFiles)
	if err != nil {
		return err
	}
	work, remove, err := scratch.In(b.CacheDir, "build-")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // the next run tries again
	b.Progress("putting the images of %s into containerd's store", p.version)
	store, err := p.containerdStore(ctx, base, work)
	if err != nil {
		return err
	}
	b.Progress("packing and loading %s", tag)
	top, err := p.topLayer(store, filepath.Join(work, "top.tar"))
	if err != nil {
		return err
	}
	image := archive{
		tag: tag, layers: []layer{base.layer, top}, env: []string{"container=docker", "PATH=" + defaultPath},
		entrypoint: []string{
			"/usr/local/bin/entrypoint",
			"/sbin/init",
		}, stopSignal: "SIGRTMIN+3", labels: map[string]string{KeyLabel: key},
	}
	return load(ctx, b.Loader, image)
}

// load streams an image into an engine.
func load(ctx context.Context, loader Loader, image archive) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(image.write(writer)) }()
	err := loader.Run(ctx, engine.Streams{In: reader}, "load", "--quiet")
	_ = reader.Close()
	if err != nil {
		return fmt.Errorf("load image %s: %w", image.tag, err)
	}
	return nil
}
