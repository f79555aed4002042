package nodeimage

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// exampleLayer packs a small tree whose files have the given modification time.
func exampleLayer(t *testing.T, at time.Time) layer {
	t.Helper()
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	golden.Must(t, os.MkdirAll(filepath.Join(tree, "etc", "deep"), 0o755))
	for _, name := range []string{"etc/a", "etc/deep/b"} {
		path := filepath.Join(tree, name)
		golden.Must(t, os.WriteFile(path, []byte(name), 0o640))
		golden.Must(t, os.Chtimes(path, at, at))
	}
	golden.Must(t, os.Symlink("a", filepath.Join(tree, "etc", "link")))
	w, err := newLayer(filepath.Join(dir, "layer.tar"))
	golden.Must(t, err)
	err = errors.Join(w.content("etc/first", "1", 0o644),
		w.tree(tree, "", func(name string) bool { return name == "etc/skipped" }), w.link("usr/bin/x", "y"))
	l, closeErr := w.close()
	golden.Must(t, errors.Join(err, closeErr))
	return l
}

func TestTheSameContentHasTheSameDigest(t *testing.T) {
	one, two := exampleLayer(t, time.Unix(1e9, 0)), exampleLayer(t, time.Unix(1.5e9, 5))
	if one.digest != two.digest {
		t.Errorf("%s and %s", one.digest, two.digest)
	}
}

func TestUndate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shadow")
	golden.Must(t, os.WriteFile(file, []byte("root:*:20779:0:99999:7:::\n_apt:*:20780:0:99999:7:::\n"), 0o640))
	golden.Must(t, undate(file))
	if data, err := os.ReadFile(file); err != nil || string(data) != "root:*:1:0:99999:7:::\n_apt:*:1:0:99999:7:::\n" {
		t.Errorf("%v:\n%s", err, data)
	}
}

// No name is in a layer twice: engines reject such a layer.
func TestNoNameComesTwice(t *testing.T) {
	file, err := os.Open(exampleLayer(t, epoch).path)
	golden.Must(t, err)
	defer file.Close()
	seen := map[string]bool{}
	for _, header := range headers(t, file) {
		if seen[header.Name] {
			t.Errorf("%s comes twice", header.Name)
		}
		seen[header.Name] = true
	}
	for _, name := range []string{
		"etc/", "etc/first", "etc/a", "etc/deep/b", "etc/link", "usr/", "usr/bin/",
		"usr/bin/x",
	} {
		if !seen[name] {
			t.Errorf("%s is missing from %v", name, seen)
		}
	}
}

func headers(t *testing.T, r io.Reader) []*tar.Header {
	t.Helper()
	var all []*tar.Header
	for reader := tar.NewReader(r); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		golden.Must(t, err)
		all = append(all, header)
	}
}

func TestArchive(t *testing.T) {
	l := exampleLayer(t, epoch)
	images := []archive{
		{tag: "a:1", layers: []layer{l}, entrypoint: []string{"/x"}, labels: map[string]string{"k": "v"}},
		{tag: "b:1", layers: []layer{l}, env: []string{"PATH=/bin"}},
	}
	var out bytes.Buffer
	golden.Must(t, writeArchive(&out, images...))
	files := map[string]int{}
	for _, header := range headers(t, bytes.NewReader(out.Bytes())) {
		files[header.Name]++
	}
	if len(files) != 4 || files[l.digest+".tar"] != 1 || files["manifest.json"] != 1 {
		t.Errorf("want two configurations, a layer that is shared and a manifest; got %v", files)
	}
	config, err := images[0].config()
	golden.Must(t, err)
	var decoded imageConfig
	if err := json.Unmarshal(config, &decoded); err != nil || decoded.RootFS.DiffIDs[0] != "sha256:"+l.digest ||
		decoded.Config.Labels["k"] != "v" {
		t.Errorf("%v: %s", err, config)
	}
}

func TestReadImageVersions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cmd", "kubeadm", "app", "constants", "constants.go")
	golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	source := "package constants\n\nconst (\n\tDefaultEtcdVersion = \"3.6.5-0\"\n\tMinExternalEtcdVersion = " +
		"\"3.5.24-0\"\n\tCoreDNSVersion = \"v1.12.1\"\n\tPauseVersion = \"3.10.1\"\n)\n"
	golden.Write(t, path, source)
	v, err := readImageVersions(dir)
	if err != nil || v != (imageVersions{Etcd: "3.6.5-0", CoreDNS: "v1.12.1", Pause: "3.10.1"}) ||
		v.etcdModule() != "v3.6.5" {
		t.Errorf("got %+v, %v", v, err)
	}
	golden.Write(t, path, "package constants\n")
	_, err = readImageVersions(dir)
	golden.Error(t, err, "does not say")
}

func TestRealPathStaysInTheTree(t *testing.T) {
	root := t.TempDir()
	golden.Must(t, os.MkdirAll(filepath.Join(root, "usr/lib"), 0o755))
	golden.Write(t, filepath.Join(root, "usr/lib/real.so.1"), "")
	for name, target := range map[string]string{
		"usr/lib/absolute.so": "/usr/lib/real.so.1",
		"usr/lib/relative.so": "real.so.1", "usr/lib/loop": "loop",
	} {
		golden.Must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	for _, name := range []string{"/usr/lib/absolute.so", "/usr/lib/relative.so"} {
		if got, err := realPath(root, name); err != nil || got != filepath.Join(root, "usr/lib/real.so.1") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := realPath(root, "/usr/lib/loop"); err == nil {
		t.Error("a loop was followed")
	}
}

func TestEditRejectsAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	golden.Write(t, path, "a = 1")
	if err := edit(path, "b = 1", "b = 2"); err == nil {
		t.Error("a text that is not there was replaced")
	}
}
