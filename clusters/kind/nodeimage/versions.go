package nodeimage

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// imageVersions are the image tags that kubeadm uses for programs outside of Kubernetes.
type imageVersions struct {
	// Etcd: "3.6.5-0", CoreDNS: "v1.12.1", Pause: "3.10.1".
	Etcd, CoreDNS, Pause string
}

// sandboxPause is the tag of the pause image that kind's containerd configuration names.
const sandboxPause = "3.10"

var constant = regexp.MustCompile(`(?m)^\s+(DefaultEtcdVersion|CoreDNSVersion|PauseVersion)\s*=\s*"([^"]+)"`)

// readImageVersions reads the image versions from the source of kubeadm.
func readImageVersions(kubernetes string) (imageVersions, error) {
	path := filepath.Join(kubernetes, "cmd", "kubeadm", "app", "constants", "constants.go")
	source, err := os.ReadFile(path)
	if err != nil {
		return imageVersions{}, fmt.Errorf("read which images kubeadm wants: %w", err)
	}
	found := map[string]string{}
	for _, m := range constant.FindAllStringSubmatch(string(source), -1) {
		found[m[1]] = m[2]
	}
	v := imageVersions{Etcd: found["DefaultEtcdVersion"], CoreDNS: found["CoreDNSVersion"], Pause: found["PauseVersion"]}
	if v.Etcd == "" || v.CoreDNS == "" || v.Pause == "" {
		return v, fmt.Errorf("%s does not say which etcd, CoreDNS and pause kubeadm wants (found %v)", path, found)
	}
	return v, nil
}

// etcdModule returns the version of etcd's Go module: the tag without the image's own revision.
func (v imageVersions) etcdModule() string {
	version, _, _ := strings.Cut(v.Etcd, "-")
	return "v" + version
}
