package engine

import (
	"fmt"
	"maps"
	"path"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// Kptfile is the name of the file that describes a package.
const Kptfile = "Kptfile"

// NewContent is the content of a package that an init task creates.
func NewContent(spec *v1alpha1.PackageRevisionSpec, task *v1alpha1.PackageInitTaskSpec) (map[string]string, error) {
	description := ""
	if task != nil {
		description = task.Description
	}
	kptfile, err := yaml.Marshal(map[string]any{
		"apiVersion": "kpt.dev/v1", "kind": Kptfile,
		"metadata": map[string]any{"name": path.Base(spec.PackageName)},
		"info":     map[string]any{"description": description},
	})
	if err != nil {
		return nil, fmt.Errorf("write the Kptfile of %s: %w", spec.PackageName, err)
	}
	return map[string]string{
		Kptfile:     string(kptfile),
		"README.md": fmt.Sprintf("# %s\n\n%s\n", path.Base(spec.PackageName), description),
	}, nil
}

// Adopt converts an upstream package's content to this package's own: its Kptfile gets the name, and the source.
func Adopt(spec *v1alpha1.PackageRevisionSpec, upstream map[string]string, from v1alpha1.GitLock) (map[string]string,
	error,
) {
	kptfile := map[string]any{}
	if err := yaml.Unmarshal([]byte(upstream[Kptfile]), &kptfile); err != nil {
		return nil, fmt.Errorf("read the Kptfile of %s at %s: %w", from.Directory, from.Ref, err)
	}
	if len(kptfile) == 0 {
		kptfile = map[string]any{"apiVersion": "kpt.dev/v1", "kind": Kptfile}
	}
	metadata, _ := kptfile["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"] = path.Base(spec.PackageName)
	kptfile["metadata"] = metadata
	place := map[string]any{"repo": from.Repo, "directory": from.Directory, "ref": from.Ref}
	kptfile["upstream"] = map[string]any{"type": "git", "git": place}
	locked := maps.Clone(place)
	locked["commit"] = from.Commit
	kptfile["upstreamLock"] = map[string]any{"type": "git", "git": locked}
	text, err := yaml.Marshal(kptfile)
	if err != nil {
		return nil, fmt.Errorf("write the Kptfile of %s: %w", spec.PackageName, err)
	}
	adopted := maps.Clone(upstream)
	adopted[Kptfile] = string(text)
	return adopted, nil
}
