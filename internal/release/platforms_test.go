package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// make image makes one index of both platforms. Each of its images has a program of its own platform, runs as an
// ordinary user, and is also in an archive for docker load. The program is that of a small repository.
func TestImageOfSeveralPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: it compiles the runtime of Go for two platforms; go test without -short runs it")
	}
	s := settings{source: repository(t), out: t.TempDir()}
	machines := map[platform]elf.Machine{{"linux", "amd64"}: elf.EM_X86_64, {"linux", "arm64"}: elf.EM_AARCH64}
	both := []platform{{"linux", "amd64"}, {"linux", "arm64"}}
	golden.Must(t, publishImage(t.Context(), s, both, nil, io.Discard))
	images := imagesOf(t, filepath.Join(s.out, "rehearse_0.3.0_oci.tar"))
	if len(images) != len(machines) {
		t.Errorf("the index has %v", images)
	}
	for p, machine := range machines {
		image := images[p]
		if image == nil {
			t.Fatalf("the index has no %s", p)
		}
		config, err := image.ConfigFile()
		golden.Must(t, err)
		label := config.Config.Labels["org.opencontainers.image.version"]
		if config.Architecture != p.Arch || config.OS != p.OS || config.Config.User != "65532:65532" || label != "v0.3.0" {
			t.Errorf("%s: %s/%s, user %s, version %s", p, config.OS, config.Architecture, config.Config.User, label)
		}
		program := programIn(t, image)
		file, err := elf.NewFile(bytes.NewReader(program))
		if err != nil || file.Machine != machine {
			t.Errorf("%s: its program is for %v, %v", p, file, err)
		}
		archive, err := tarball.ImageFromPath(filepath.Join(s.out, "rehearse_0.3.0_docker_"+p.Arch+".tar"), nil)
		golden.Must(t, err)
		if other, err := archive.ConfigFile(); err != nil || other.Architecture != p.Arch {
			t.Errorf("the archive for %s: %v", p, err)
		}
		if p.Arch == "arm64" {
			runOnARM(t, program)
		}
	}
}

// imagesOf unpacks an OCI layout and returns the images of its only index.
func imagesOf(t *testing.T, archive string) map[platform]v1.Image {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := layout.ImageIndexFromPath(dir)
	golden.Must(t, err)
	named, err := root.IndexManifest()
	if err != nil || len(named.Manifests) != 1 {
		t.Fatalf("the layout has %+v, %v", named, err)
	}
	index, err := root.ImageIndex(named.Manifests[0].Digest)
	if err == nil {
		err = validate.Index(index)
	}
	golden.Must(t, err)
	manifest, err := index.IndexManifest()
	golden.Must(t, err)
	all := map[platform]v1.Image{}
	for _, one := range manifest.Manifests {
		image, err := index.Image(one.Digest)
		golden.Must(t, err)
		all[platform{one.Platform.OS, one.Platform.Architecture}] = image
	}
	return all
}

// programIn returns the program of an image.
func programIn(t *testing.T, image v1.Image) []byte {
	t.Helper()
	flat := mutate.Extract(image)
	defer flat.Close()
	for r := tar.NewReader(flat); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			t.Fatal("the image has no program")
		}
		golden.Must(t, err)
		if header.Name == "usr/bin/rehearse" {
			data, err := io.ReadAll(r)
			golden.Must(t, err)
			return data
		}
	}
}

// runOnARM runs a program for arm64, on any machine that has qemu-user.
func runOnARM(t *testing.T, program []byte) {
	t.Helper()
	t.Run("on arm64", func(t *testing.T) {
		emulator, err := exec.LookPath("qemu-aarch64")
		if err != nil {
			t.Skip("NOT RUN: the program for arm64: Debian's qemu-user is not installed")
		}
		file := filepath.Join(t.TempDir(), "rehearse")
		golden.Write(t, file, program)
		out, err := exec.CommandContext(t.Context(), emulator, file).CombinedOutput()
		if err != nil || string(out) != "arm64\n" {
			t.Errorf("the program for arm64 says %q, %v", out, err)
		}
	})
}
