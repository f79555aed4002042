package manifests

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overlay builds the objects of a folder with a kustomization, as kubectl -k does. They have no lines: transformers
// make them.
func (l *loader) overlay(dir string) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("build kustomization %s: %w", dir, err))
		return
	}
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			l.errs = append(l.errs, fmt.Errorf("build kustomization %s: %w", dir, err))
			continue
		}
		objects, err := parse(dir, text)
		for _, o := range objects {
			o.Line = 0
		}
		var wrong *Error
		if errors.As(err, &wrong) {
			wrong.Line = 0
		}
		l.objects, l.errs = append(l.objects, objects...), append(l.errs, err)
	}
}
