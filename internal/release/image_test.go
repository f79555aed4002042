package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func imageFor(t *testing.T, p *program) v1.Image {
	t.Helper()
	image, err := imageOf(t.Context(), settings{source: "../.."}, p, nil, t.TempDir())
	golden.Must(t, err)
	return image
}

func TestImage(t *testing.T) {
	p := built(t)
	image := imageFor(t, p)
	config, err := image.ConfigFile()
	golden.Must(t, err)
	if config.Architecture != "arm64" || config.OS != "linux" || !config.Created.Equal(committed) ||
		len(config.History) != 2 {
		t.Errorf("got %+v", config)
	}
	for key, want := range map[string]string{
		"version": "v1.2.3", "revision": "a1ae40f",
		"source": "https://example.com/shop",
	} {
		if got := config.Config.Labels["org.opencontainers.image."+key]; got != want {
			t.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
	flat := mutate.Extract(image)
	defer flat.Close()
	data, err := io.ReadAll(flat)
	golden.Must(t, err)
	for _, name := range []string{"usr/bin/rehearse", "usr/share/sbom/rehearse.cdx.json", "etc/passwd", "tmp"} {
		if !bytes.Contains(data, []byte(name)) {
			t.Errorf("the image has no %s", name)
		}
	}
	one, err := image.Digest()
	golden.Must(t, err)
	if other, err := imageFor(t, p).Digest(); err != nil || one != other {
		t.Errorf("made twice: %s and %s, %v", one, other, err)
	}
}

// Images of two commits share all layers but the last, which has the program.
func TestSharedLayers(t *testing.T) {
	var digests [2][]string
	for i, at := range []time.Time{committed, committed.Add(time.Hour)} {
		p := built(t)
		p.committed = at
		layers, err := imageFor(t, p).Layers()
		golden.Must(t, err)
		for _, layer := range layers {
			digest, err := layer.Digest()
			golden.Must(t, err)
			digests[i] = append(digests[i], digest.String())
		}
	}
	if one, other := digests[0], digests[1]; len(one) != 2 || one[0] != other[0] || one[1] == other[1] {
		t.Errorf("the layers are %s and %s", one, other)
	}
}

// cachedKubernetes returns the cache, and a version of Kubernetes in it. Without one, the test is skipped.
func cachedKubernetes(t *testing.T) (store *releases.Store, version string) {
	t.Helper()
	store, err := releases.New(releases.Options{})
	golden.Must(t, err)
	cached := store.CachedVersions()
	if len(cached) == 0 {
		t.Skip("NOT RUN: no version of Kubernetes is in the cache; rehearse fetch 1.36 gets one")
	}
	return store, cached[0].String()
}

// The layer of a version of Kubernetes has nothing of a commit of Rehearse, and no time of its own.
func TestLayerOfKubernetes(t *testing.T) {
	store, version := cachedKubernetes(t)
	part, err := controlPlane(t.Context(), store, platform{runtime.GOOS, runtime.GOARCH}, version)
	golden.Must(t, err)
	if !part.at.Equal(time.Unix(0, 0)) {
		t.Errorf("its files are of %s", part.at)
	}
	for _, m := range part.members {
		if bytes.Contains(m.data, []byte(`"timestamp"`)) {
			t.Errorf("%s has a time", m.name)
		}
		if path.Base(m.name) == "manifest.json" && !bytes.Contains(m.data, []byte(`"1970-01-01T00:00:00Z"`)) {
			t.Errorf("the times in %s are not those of the files: %s", m.name, m.data)
		}
	}
}

// A version that the cache has only for this platform is an error before anything is built.
func TestVersionOfAnotherPlatform(t *testing.T) {
	_, version := cachedKubernetes(t)
	own := platform{runtime.GOOS, runtime.GOARCH}
	got, suffix, err := cachedVersions(t.Context(), []platform{own}, []string{version})
	if err != nil || !slices.Equal(got, []string{version}) || suffix != "-k8s"+version {
		t.Errorf("got %s, %s, %v", got, suffix, err)
	}
	_, _, err = cachedVersions(t.Context(), []platform{own, {"linux", "riscv64"}}, []string{version})
	golden.Error(t, err, "rehearse fetch --platform linux/riscv64 "+version)
}

func TestAuthorities(t *testing.T) {
	n := 0
	for rest := authorities(); ; n++ {
		block, more := pem.Decode(rest)
		if block == nil {
			break
		}
		rest = more
	}
	if n < 50 {
		t.Errorf("%d certificates", n)
	}
}

// The archive is an OCI layout whose index has the image under its name.
func TestLayout(t *testing.T) {
	p, dir := built(t), t.TempDir()
	tag, err := name.NewTag("rehearse:1.2.3")
	golden.Must(t, err)
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: imageFor(t, p), Descriptor: v1.Descriptor{
		Platform: &v1.Platform{OS: "linux", Architecture: "arm64"},
	}})
	golden.Must(t, writeLayout(index, tag, p, filepath.Join(dir, "layout"), filepath.Join(dir, "oci.tar")))
	var got v1.IndexManifest
	golden.Must(t, json.Unmarshal(contentOf(t, filepath.Join(dir, "layout", "index.json")), &got))
	if len(got.Manifests) != 1 ||
		got.Manifests[0].Annotations["io.containerd.image.name"] != "docker.io/library/rehearse:1.2.3" {
		t.Errorf("the index has %+v", got.Manifests)
	}
	written, err := layout.ImageIndexFromPath(filepath.Join(dir, "layout"))
	golden.Must(t, err)
	if err := validate.Index(written); err != nil {
		t.Error(err)
	}
	if archive := contentOf(t, filepath.Join(dir, "oci.tar")); !bytes.Contains(archive, []byte("oci-layout")) {
		t.Error("the archive is no OCI layout")
	}
}

// The Dockerfile rejects uncommitted changes before it compiles: the list of modules rejects them only afterwards.
func TestDockerfileNeedsACleanCheckout(t *testing.T) {
	text := golden.Read(t, "../../Dockerfile")
	before, _, _ := strings.Cut(text, "go build")
	check := regexp.MustCompile(`(?m)^RUN (.*git status.*)$`).FindStringSubmatch(before)
	if check == nil {
		t.Fatalf("nothing looks for changes before go build:\n%s", text)
	}
	source := repository(t)
	run := func() error {
		command := exec.CommandContext(t.Context(), "sh", "-c", check[1])
		command.Dir = source
		out, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	golden.Error(t, run(), "")
	golden.Write(t, filepath.Join(source, "LICENSE"), "changed\n")
	golden.Error(t, run(), "commit or remove these changes:  M LICENSE")
	source = t.TempDir()
	golden.Error(t, run(), "not a git repository")
}

// The image of the Dockerfile has the same files, labels, environment, user, working folder and entrypoint as ours.
func TestDockerfile(t *testing.T) {
	p := built(t)
	stages := strings.Split(strings.ReplaceAll(golden.Read(t, "../../Dockerfile"), "\\\n", " "), "\nFROM ")
	build := stages[len(stages)-2]
	parts, err := partsOf(t.Context(), settings{source: "../.."}, p, nil)
	golden.Must(t, err)
	for _, part := range parts {
		for _, m := range part.members {
			folder := m.file == "" && m.data == nil
			// A file may be copied into its folder.
			if !folder && !strings.Contains(build, "/image/"+m.name) && !strings.Contains(build, "/"+path.Base(m.name)+
				" /image/"+path.Dir(m.name)+"/ ") {
				t.Errorf("nothing makes %s", m.name)
			}
		}
	}
	last := stages[len(stages)-1]
	said := func(instruction string) []string {
		var all []string
		for _, m := range regexp.MustCompile(`(?m)^`+instruction+` +(.*)$`).FindAllStringSubmatch(last, -1) {
			all = append(all, strings.TrimSpace(m[1]))
		}
		return all
	}
	want := configOf(p, nil)
	if env := strings.Fields(strings.Join(said("ENV"), " ")); !slices.Equal(env, want.Env) {
		t.Errorf("ENV %q, want %q", env, want.Env)
	}
	for instruction, want := range map[string]string{
		"USER": want.User, "WORKDIR": want.WorkingDir, "ENTRYPOINT": `["` + want.Entrypoint[0] + `"]`,
	} {
		if got := said(instruction); len(got) != 1 || got[0] != want {
			t.Errorf("%s %q, want %q", instruction, got, want)
		}
	}
	if !strings.HasPrefix(last, "scratch") {
		t.Errorf("the image is made from %.20q", last)
	}
	for key := range want.Labels {
		if !strings.Contains(last, key+"=") {
			t.Errorf("there is no label %s", key)
		}
	}
}
