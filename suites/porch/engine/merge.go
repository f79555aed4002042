package engine

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml/merge3"
)

// Merge applies the changes between two upstream revisions to the local one, file by file. If both sides changed a
// YAML file, its fields are merged; if both changed a field, upstream's value wins. Any other file that both sides
// changed keeps its local content.
func (r Rules) Merge(old, upstream, local map[string]string) (map[string]string, error) {
	switch {
	case r.Has(MergeTakesNew):
		return maps.Clone(upstream), nil
	case r.Has(MergeTakesLocal):
		return maps.Clone(local), nil
	}
	merged := map[string]string{}
	for name := range union(old, upstream, local) {
		content, there, err := mergeFile(name, at(old, name), at(upstream, name), at(local, name))
		if err != nil {
			return nil, err
		}
		if there {
			merged[name] = content
		}
	}
	return merged, nil
}

// file is the file of one side, which may not exist.
type file struct {
	content string
	there   bool
}

func at(files map[string]string, name string) file {
	content, there := files[name]
	return file{content, there}
}

func mergeFile(name string, old, upstream, local file) (content string, there bool, err error) {
	switch {
	case upstream == old || upstream == local:
		return local.content, local.there, nil
	case local == old:
		return upstream.content, upstream.there, nil
	case !isYAML(name) || !upstream.there || !local.there:
		return local.content, local.there, nil
	}
	content, err = merge3.MergeStrings(local.content, old.content, upstream.content, true)
	if err != nil {
		return "", false, fmt.Errorf("merge %s: %w", name, err)
	}
	return content, true, nil
}

// isYAML reports whether the fields of a file can be merged.
func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) || path.Base(name) == Kptfile
}

func union(all ...map[string]string) map[string]bool {
	names := map[string]bool{}
	for _, files := range all {
		for name := range files {
			names[strings.TrimPrefix(name, "/")] = true
		}
	}
	return names
}
