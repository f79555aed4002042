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
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

const (
	// Repository of the images that are built here. Its host can be asked for nothing, so that an image that is not
	// there is never taken for somebody else's.
	Repository = "localhost/rehearse-node"
	// NetworkFile is where an image has the network configuration of its pods; NetworkSubnet in it is for the node's own
	// addresses.
	NetworkFile   = "/kind/network.conflist"
	NetworkSubnet = "10.244.0.0/24"

	// KeyLabel of an image says what it was made from. Only images that are built here have it, and so node images with
	// clusters.PodImage.
	KeyLabel = "dev.rehearse.node-image"
	// recipe changes whenever this package makes another image of the same inputs.
	recipe = "3"
)

// Tag of the image of a version: "localhost/rehearse-node:v1.34.4".
func Tag(version string) string { return Repository + ":v" + version }

// Programs gets the programs of a Kubernetes version.
type Programs interface {
	Resolve(ctx context.Context, version string) (string, error)
	Ensure(ctx context.Context, version string, programs ...string) (releases.Binaries, error)
}

// Loader takes images: a container engine.
type Loader interface {
	ImageLabel(ctx context.Context, image, label string) (string, error)
	Run(ctx context.Context, s engine.Streams, args ...string) error
}

// Options of a Builder.
type Options struct {
	// CacheDir is the folder for what is kept between builds; the builder makes it.
	CacheDir string
	// Programs gets Kubernetes' own programs.
	Programs Programs
	// Loader takes the finished images.
	Loader Loader
	// Mirror of Debian packages. Default: debootstrap's own choice.
	Mirror string
	// Progress hears what is going on. Optional.
	Progress clusters.Progress
}

// Builder builds node images.
type Builder struct{ Options }

// New returns a builder; it touches nothing yet.
func New(o Options) *Builder {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Builder{Options: o}
}

// nodePrograms are what a node image has of Kubernetes, besides the control plane.
var nodePrograms = []string{"kubeadm", "kubelet", "kubectl", "kube-proxy"}

// Build makes sure that the loader has the image of a version ("1.34" or "1.34.4"), and returns its tag. An image of
// the same content is not built again.
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
	present, err := b.Loader.ImageLabel(ctx, tag, KeyLabel)
	if err != nil && !errors.Is(err, engine.ErrNoImage) {
		return "", err
	}
	if err == nil && present == key {
		b.Progress("%s already exists", tag)
		return tag, nil
	}
	unlock, err := lock(ctx, filepath.Join(b.CacheDir, "build.lock"), b.Progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	return tag, b.assemble(ctx, parts, tag, key)
}

// parts are what an image is made of.
type parts struct {
	version  string
	programs releases.Binaries
	images   imageVersions
	// etcd, coredns and pause are the paths of those programs.
	etcd, coredns, pause string
	// kindFiles is the folder of what kind puts into its own images.
	kindFiles, kindVersion string
}

func (b *Builder) makeCacheDir() error {
	if err := os.MkdirAll(b.CacheDir, 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	return nil
}

// gather gets all that takes long, side by side with nobody: the Go tool uses every core as it is.
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

// key names the content of an image.
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

// assemble puts the parts together and gives them to the loader. The caller holds the lock.
func (b *Builder) assemble(ctx context.Context, p parts, tag, key string) error {
	base, err := b.base(ctx, p.kindFiles)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(b.CacheDir, "build-")
	if err != nil {
		return fmt.Errorf("make a folder to build in: %w", err)
	}
	defer os.RemoveAll(work)
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
