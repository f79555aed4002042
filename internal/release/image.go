package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

const imageName = "rehearse"

// publishImage writes the image in two forms: an OCI layout with all platforms in one archive, and an archive for
// docker load for each platform.
func publishImage(ctx context.Context, s settings, platforms []platform, kubernetes []string, out io.Writer) error {
	work, remove, err := scratch.Folder("image")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // the next one tries again
	with, tagged, err := cachedVersions(ctx, platforms, kubernetes)
	if err != nil {
		return err
	}
	var tag name.Tag
	var last *program
	index := v1.ImageIndex(empty.Index)
	for _, p := range platforms {
		if p.OS != "linux" {
			return fmt.Errorf("platform %s: an image is for Linux", p)
		}
		built, err := buildProgram(ctx, s, p)
		if err != nil {
			return err
		}
		last = built
		if tag, err = name.NewTag(imageName + ":" + strings.TrimPrefix(built.version(), "v") + tagged); err != nil {
			return err
		}
		image, err := imageOf(ctx, s, built, with, work)
		if err != nil {
			return fmt.Errorf("make the image for %s: %w", p, err)
		}
		file := filepath.Join(s.out, strings.NewReplacer(":", "_").Replace(tag.String())+"_docker_"+p.Arch+".tar")
		whole := func(path string) error { return tarball.WriteToFile(path, tag, image) }
		if err := replace(file, whole); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		fmt.Fprintf(out, "%s  (docker load -i; %s)\n", file, tag)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch},
		}})
	}
	file := filepath.Join(s.out, strings.NewReplacer(":", "_").Replace(tag.String())+"_oci.tar")
	if err := writeLayout(index, tag, last, filepath.Join(work, "layout"), file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	fmt.Fprintf(out, "%s  (OCI layout of all platforms; %s)\n", file, tag)
	return nil
}

// cachedVersions returns the exact versions in the cache, and the suffix for the image's tag. It checks every platform,
// because a missing version would otherwise show only after minutes of building.
func cachedVersions(ctx context.Context, platforms []platform, wanted []string) ([]string, string, error) {
	if len(wanted) == 0 {
		return nil, "", nil
	}
	store, err := releases.New(releases.Options{})
	if err != nil {
		return nil, "", err
	}
	var versions, names []string
	for _, version := range wanted {
		if !store.Cached(version) {
			return nil, "", fmt.Errorf("kubernetes %s is not in the cache: get it with: rehearse fetch %s", version, version)
		}
		exact, err := store.Resolve(ctx, version)
		if err != nil {
			return nil, "", err
		}
		for _, p := range platforms {
			if _, err := store.Bundle(ctx, exact, p.OS+"-"+p.Arch, always); err != nil {
				return nil, "", err
			}
		}
		versions, names = append(versions, exact), append(names, version)
	}
	return versions, "-k8s" + strings.Join(names, "-"), nil
}

// imageOf returns the image for one platform.
func imageOf(ctx context.Context, s settings, built *program, kubernetes []string, work string) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	parts, err := partsOf(ctx, s, built, kubernetes)
	if err != nil {
		return nil, err
	}
	image := base
	for i, part := range parts {
		file := filepath.Join(work, fmt.Sprintf("%s-%d.tar", built.platform.Arch, i))
		layer, err := layerOf(part, file)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{
			Created: v1.Time{Time: built.committed.UTC()}, CreatedBy: "make image", Comment: part.about,
		}}); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = built.platform.OS, built.platform.Arch
	config.Created, config.Config = v1.Time{Time: built.committed.UTC()}, configOf(built, kubernetes)
	return mutate.ConfigFile(image, config)
}

// layerOf writes a layer's files into an archive, and compresses it.
func layerOf(part layerPart, file string) (v1.Layer, error) {
	if err := writeTarFile(file, part.members, part.at); err != nil {
		return nil, fmt.Errorf("write a layer: %w", err)
	}
	return tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

// configOf returns how a container of the image starts. The Dockerfile has the same settings.
func configOf(built *program, kubernetes []string) v1.Config {
	labels := map[string]string{
		"org.opencontainers.image.title":       "Rehearse",
		"org.opencontainers.image.description": "Rehearses upgrades, rollbacks and rejections on real Kubernetes components",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     built.version(),
		"org.opencontainers.image.revision":    built.setting("vcs.revision"),
		"org.opencontainers.image.created":     built.setting("vcs.time"),
		"org.opencontainers.image.source":      "https://" + built.info.Main.Path,
	}
	if len(kubernetes) > 0 {
		labels["dev.rehearse.kubernetes"] = strings.Join(kubernetes, ",")
	}
	return v1.Config{
		Entrypoint: []string{"/usr/bin/rehearse"}, User: "65532:65532", WorkingDir: "/tmp", Labels: labels,
		Env: []string{
			"PATH=/usr/bin", "HOME=/tmp", "XDG_CACHE_HOME=/tmp/.cache", "REHEARSE_KUBERNETES=/usr/share/rehearse",
		},
	}
}

// writeLayout packs an index as an OCI layout, with the names that container engines look for.
func writeLayout(index v1.ImageIndex, tag name.Tag, built *program, dir, file string) error {
	named := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{
		Annotations: map[string]string{
			"org.opencontainers.image.ref.name": tag.TagStr(),
			"io.containerd.image.name":          "docker.io/library/" + tag.String(),
		},
	}})
	if _, err := layout.Write(dir, named); err != nil {
		return err
	}
	found := map[string]member{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		one := member{name: filepath.ToSlash(relative), mode: 0o755}
		if !entry.IsDir() {
			one.mode, one.file = 0o644, path
		}
		found[one.name] = one
		return nil
	})
	if err != nil {
		return err
	}
	var members []member
	for _, name := range slices.Sorted(maps.Keys(found)) {
		members = append(members, found[name])
	}
	return replace(file, func(path string) error { return writeTarFile(path, members, built.committed) })
}

// replace writes a file, which appears complete or not at all.
func replace(file string, write func(path string) error) error {
	unfinished := file + ".unfinished"
	if err := write(unfinished); err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	return os.Rename(unfinished, file)
}
