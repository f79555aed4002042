package nodeimage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// BalancerTag is the tag of our own load balancer for clusters of several control planes.
const BalancerTag = "localhost/rehearse-load-balancer:1"

//go:embed balancer/main.go
var balancerSource []byte

// balancerProgram is the program that kind starts in the image.
const balancerProgram = "usr/local/bin/envoy"

// BuildBalancer ensures that the loader has the image of the load balancer, and returns its tag. No Go module or
// Debian package has kind's own load balancer; this one reads the same files.
func (b *Builder) BuildBalancer(ctx context.Context) (string, error) {
	if err := b.buildBalancer(ctx); err != nil {
		return "", fmt.Errorf("build the load balancer's image: %w", err)
	}
	return BalancerTag, nil
}

func (b *Builder) buildBalancer(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return errors.New("images can be built only on Linux")
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{
		recipe, suite, kindVersion, runtime.GOARCH,
		string(balancerSource),
	}, packages...), " ")))
	key := hex.EncodeToString(sum[:])
	present, err := b.Loader.ImageLabel(ctx, BalancerTag, KeyLabel)
	if err != nil && !errors.Is(err, engine.ErrNoImage) {
		return err
	}
	if err == nil && present == key {
		b.Progress("%s already exists", BalancerTag)
		return nil
	}
	tool, err := findGo()
	if err != nil {
		return err
	}
	if err := b.makeCacheDir(); err != nil {
		return err
	}
	kindFiles, err := b.kindFiles(ctx, tool)
	if err != nil {
		return err
	}
	tools := &toolStore{dir: filepath.Join(b.CacheDir, "tools"), tool: tool, progress: b.Progress}
	program, err := tools.build(ctx, "balancer", "", balancerSource, ".")
	if err != nil {
		return err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	base, err := b.base(ctx, kindFiles)
	if err != nil {
		return err
	}
	work, remove, err := scratch.In(b.CacheDir, "build-")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // the next run tries again
	w, err := newLayer(filepath.Join(work, "top.tar"))
	if err != nil {
		return err
	}
	err = w.copyFile(balancerProgram, program, 0o755)
	top, closeErr := w.close()
	if err := errors.Join(err, closeErr); err != nil {
		return err
	}
	b.Progress("packing and loading %s", BalancerTag)
	return load(ctx, b.Loader,
		archive{
			tag: BalancerTag, layers: []layer{base.layer, top}, env: []string{"PATH=" + defaultPath},
			labels: map[string]string{KeyLabel: key},
		})
}

// kindFiles returns the folder of the files in kind's own images.
func (b *Builder) kindFiles(ctx context.Context, tool goTool) (string, error) {
	kind, err := tool.module(ctx, "sigs.k8s.io/kind", kindVersion)
	return filepath.Join(kind, "images", "base", "files"), err
}
