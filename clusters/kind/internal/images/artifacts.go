package images

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// Artifacts are what a node needs from another version. They are copied from that version's node image.
type Artifacts struct {
	// Dir has the programs kubelet, kubeadm and kubectl, the images of the components in ComponentsTar, and those of the
	// addons in AddonsTar.
	Dir string
	// Components and Addons are the names of those images.
	Components, Addons []string
}

const (
	ComponentsTar = "components.tar"
	AddonsTar     = "addons.tar"
)

// Artifacts returns a version's artifacts from the cache or, the first time, from its node image.
func (p *Source) Artifacts(ctx context.Context, version string) (Artifacts, error) {
	image, id, err := p.Image(ctx, version)
	if err != nil {
		return Artifacts{}, err
	}
	a := Artifacts{Dir: filepath.Join(p.CacheDir, "kind", "artifacts",
		strings.NewReplacer("sha256:", "", ":", "-", "/", "-").Replace(id))}
	names, err := os.ReadFile(filepath.Join(a.Dir, "images"))
	if errors.Is(err, fs.ErrNotExist) {
		p.Progress("taking Kubernetes %s out of node image %s", version, image)
		names, err = p.extract(ctx, image, a.Dir)
	}
	if err != nil {
		return a, fmt.Errorf("take Kubernetes %s out of node image %s: %w", version, image, err)
	}
	a.Components, a.Addons = sortImages(string(names), version)
	if len(a.Components) != 4 {
		return a, fmt.Errorf("node image %s has the images %v of Kubernetes %s; wanted the control plane and kube-proxy",
			image, a.Components, version)
	}
	return a, nil
}

var componentImage = regexp.MustCompile(`^registry\.k8s\.io/(kube-apiserver|kube-controller-manager|kube-scheduler|kube-proxy):(.+)$`)

// sortImages separates the images of Kubernetes' components from those of its addons. It leaves out all others.
func sortImages(names, version string) (components, addons []string) {
	for _, name := range strings.Fields(names) {
		m := componentImage.FindStringSubmatch(name)
		switch {
		case m != nil && m[2] == settings.ImageTag(version):
			components = append(components, name)
		case m == nil && strings.HasPrefix(name, "registry.k8s.io/") && !strings.Contains(name, "@"):
			addons = append(addons, name)
		}
	}
	return components, addons
}

// containerLasts is after how many seconds the container ends by itself. The engine then removes it.
const containerLasts = "600"

// extract runs the image's own containerd to export the images in it, and copies the programs. dir appears complete
// or not at all.
func (p *Source) extract(ctx context.Context, image, dir string) (names []byte, err error) {
	e, err := p.Engine(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	work, remove, err := scratch.In(filepath.Dir(dir), "extract-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = remove() }() // the next run tries again
	name := "rehearse-extract-" + strings.ToLower(rand.Text()[:8])
	defer func() { // also after an interrupt: the engine may have started the container nevertheless
		removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodes.RemoveTimeout)
		defer cancel()
		if _, removeErr := e.Output(removing, "rm", "--force", "--volumes", name); err == nil {
			err = removeErr
		}
	}()
	if _, err := e.Output(ctx, "run", "--detach", "--rm", "--name", name, "--entrypoint", "sleep", "--network", "none",
		"--security-opt", "seccomp=unconfined", image, containerLasts); err != nil {
		return nil, err
	}
	const start = `containerd >/dev/null 2>&1 &
for i in $(seq 100); do if ctr version >/dev/null 2>&1; then exec ctr -n k8s.io images ls -q; fi; sleep 0.1; done
echo "containerd does not answer" >&2; exit 1`
	text, err := e.Shell(ctx, name, start)
	if err != nil {
		return nil, err
	}
	version, err := e.Exec(ctx, name, "cat", "/kind/version")
	if err != nil {
		return nil, err
	}
	components, addons := sortImages(text, strings.TrimPrefix(version, "v"))
	copies := map[string][]string{
		ComponentsTar: append([]string{"ctr", "-n", "k8s.io", "images", "export", "-"}, components...),
		AddonsTar:     append([]string{"ctr", "-n", "k8s.io", "images", "export", "-"}, addons...),
	}
	for _, program := range []string{string(clusters.Kubelet), "kubeadm", "kubectl"} {
		copies[program] = []string{"cat", "/usr/bin/" + program}
	}
	for file, command := range copies {
		if err := saveOutput(ctx, e, filepath.Join(work, file), append([]string{"exec", name}, command...)); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(work, "images"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return []byte(text), nil
}

func saveOutput(ctx context.Context, e *engine.Engine, path string, args []string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = e.Run(ctx, engine.Streams{Out: file}, args...)
	return errors.Join(err, file.Close())
}

// LoadImages imports images into a node that does not have them, and unpacks them there, before anything is stopped.
func LoadImages(ctx context.Context, n nodes.Node, tar string, names []string) error {
	present, err := n.Shell(ctx, "ctr -n k8s.io images ls -q")
	if err != nil {
		return fmt.Errorf("look for images in node %s: %w", n.Name, err)
	}
	have := map[string]bool{}
	for _, name := range strings.Fields(present) {
		have[name] = true
	}
	lacking := false
	for _, name := range names {
		lacking = lacking || !have[name]
	}
	if !lacking {
		return nil
	}
	file, err := os.Open(tar)
	if err != nil {
		return err
	}
	defer file.Close()
	err = n.Engine.Run(ctx, engine.Streams{In: file}, "exec", "--interactive", n.Name, "ctr", "-n", "k8s.io", "images",
		"import", "--all-platforms", "-")
	if err != nil {
		return fmt.Errorf("bring images into node %s: %w", n.Name, err)
	}
	return nil
}

// InstallProgram replaces a program of a node with that of another version.
func InstallProgram(ctx context.Context, n nodes.Node, bin Artifacts, program string) error {
	file, err := os.Open(filepath.Join(bin.Dir, program))
	if err != nil {
		return err
	}
	defer file.Close()
	return n.Write(ctx, "/usr/bin/"+program, file, "755")
}
