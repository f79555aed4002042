package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// componentImages makes the images that kubeadm and kubelet use. Each has one program, except for kube-proxy's.
func (p parts) componentImages(ctx context.Context, rootfs, work string) ([]archive, error) {
	type single struct{ tag, program string }
	singles := []single{
		{"registry.k8s.io/etcd:" + p.images.Etcd, p.etcd},
		{"registry.k8s.io/coredns/coredns:" + p.images.CoreDNS, p.coredns},
		{"registry.k8s.io/pause:" + p.images.Pause, p.pause},
	}
	if p.images.Pause != sandboxPause {
		singles = append(singles, single{"registry.k8s.io/pause:" + sandboxPause, p.pause})
	}
	for _, c := range clusters.ControlPlane() {
		singles = append(singles, single{fmt.Sprintf("registry.k8s.io/%s:v%s", c, p.version), p.programs.Path(string(c))})
	}
	var images []archive
	for i, s := range singles {
		l, err := programLayer(filepath.Join(work, fmt.Sprintf("image-%d.tar", i)), s.program)
		if err != nil {
			return nil, fmt.Errorf("make image %s: %w", s.tag, err)
		}
		images = append(images,
			archive{
				tag: s.tag, layers: []layer{l}, env: []string{"PATH=" + defaultPath},
				entrypoint: []string{"/usr/local/bin/" + filepath.Base(s.program)},
			})
	}
	proxy, err := p.proxyImage(ctx, rootfs, filepath.Join(work, "image-proxy.tar"))
	if err != nil {
		return nil, fmt.Errorf("make the image of kube-proxy: %w", err)
	}
	pod, err := podImage(rootfs, filepath.Join(work, "image-pod.tar"))
	if err != nil {
		return nil, fmt.Errorf("make image %s: %w", clusters.PodImage, err)
	}
	return append(images, proxy, pod), nil
}

func programLayer(path, program string) (layer, error) {
	w, err := newLayer(path)
	if err != nil {
		return layer{}, err
	}
	err = errors.Join(w.folder("etc", 0o755), w.folder("tmp", 0o1777),
		w.copyFile("usr/local/bin/"+filepath.Base(program), program, 0o755))
	l, closeErr := w.close()
	return l, errors.Join(err, closeErr)
}

var library = regexp.MustCompile(`/\S+\.so\S*`)

// proxyImage makes an image of kube-proxy and the programs with which it writes rules, with their libraries.
func (p parts) proxyImage(ctx context.Context, rootfs, file string) (archive, error) {
	extensions := "/usr/lib/" + multiarch() + "/xtables"
	out, err := output(ctx, "chroot", rootfs, "sh", "-c",
		"ldd /usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/sbin/conntrack "+extensions+"/*.so 2>/dev/null || true")
	if err != nil {
		return archive{}, err
	}
	libraries := map[string]bool{}
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "/") {
			continue // the heading of a file
		}
		for _, found := range library.FindAllString(line, -1) {
			libraries[strings.TrimSuffix(found, ":")] = true
		}
	}
	if len(libraries) == 0 {
		return archive{}, fmt.Errorf("ldd found no libraries of iptables in %s", rootfs)
	}
	w, err := newLayer(file)
	if err != nil {
		return archive{}, err
	}
	errs := []error{
		w.folder("etc", 0o755), w.folder("tmp", 0o1777), w.folder("run", 0o755), w.copyFile("usr/local/bin/kube-proxy",
			p.programs.Path("kube-proxy"), 0o755),
		w.tree(filepath.Join(rootfs, extensions), strings.TrimPrefix(extensions, "/"), nil),
	}
	for _, program := range []string{"xtables-nft-multi", "nft", "conntrack"} {
		errs = append(errs, w.copyFile("usr/sbin/"+program, filepath.Join(rootfs, "usr/sbin", program), 0o755))
	}
	for _, family := range []string{"iptables", "ip6tables"} {
		for _, suffix := range []string{"", "-save", "-restore"} {
			errs = append(errs, w.link("usr/sbin/"+family+suffix, "xtables-nft-multi"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(libraries)) {
		if strings.HasPrefix(name, extensions) {
			continue
		}
		real, err := realPath(rootfs, name)
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, w.copyFile(strings.TrimPrefix(path.Clean(name), "/"), real, 0o755))
		}
	}
	l, closeErr := w.close()
	return archive{
		tag: "registry.k8s.io/kube-proxy:v" +
			p.version, layers: []layer{l}, env: []string{"PATH=" +
			defaultPath}, entrypoint: []string{"/usr/local/bin/kube-proxy"},
	}, errors.Join(errors.Join(errs...), closeErr)
}

func podImage(rootfs, file string) (archive, error) {
	w, err := newLayer(file)
	if err != nil {
		return archive{}, err
	}
	errs := []error{
		w.folder("etc", 0o755), w.folder("tmp", 0o1777),
		w.copyFile("bin/busybox", filepath.Join(rootfs, "bin/busybox"), 0o755),
	}
	for _, applet := range []string{
		"sh", "sleep", "cat", "ls", "echo", "nc", "httpd", "nslookup", "hostname", "ip",
		"env", "date", "true", "false",
	} {
		errs = append(errs, w.link("bin/"+applet, "busybox"))
	}
	l, closeErr := w.close()
	return archive{
		tag: clusters.PodImage, layers: []layer{l}, env: []string{"PATH=" + defaultPath},
		entrypoint: []string{"/bin/sleep", "infinity"},
	}, errors.Join(errors.Join(errs...), closeErr)
}

// multiarch returns Debian's name of this machine's architecture.
func multiarch() string {
	switch runtime.GOARCH {
	case "arm64":
		return "aarch64-linux-gnu"
	default:
		return "x86_64-linux-gnu"
	}
}
