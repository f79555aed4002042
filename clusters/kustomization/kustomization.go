// Package kustomization builds folders with a kustomization, as kubectl -k does.
package kustomization

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// In reports whether a folder has a kustomization.
func In(dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// Build returns the YAML of each object of a folder with a kustomization.
func Build(dir string) ([][]byte, error) { return build(filesys.MakeFsOnDisk(), dir) }

// Files returns the files that Build reads, which may be outside of the folder, in alphabetical order. Their paths are
// absolute.
func Files(dir string) ([]string, error) {
	disk := &reading{FileSystem: filesys.MakeFsOnDisk(), files: map[string]bool{}}
	_, err := build(disk, dir)
	return slices.Sorted(maps.Keys(disk.files)), err
}

// reading is a file system that remembers which files were read.
type reading struct {
	filesys.FileSystem

	files map[string]bool
}

// ReadFile implements filesys.FileSystem.
func (r *reading) ReadFile(path string) ([]byte, error) {
	data, err := r.FileSystem.ReadFile(path)
	if err == nil {
		r.files[path] = true
	}
	return data, err
}

func build(disk filesys.FileSystem, dir string) ([][]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, dir)
	if err != nil {
		return nil, fmt.Errorf("build kustomization %s: %w", dir, err)
	}
	var all [][]byte
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("build kustomization %s: %w", dir, err)
		}
		all = append(all, text)
	}
	return all, nil
}
