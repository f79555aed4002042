package manifests

import (
	"errors"

	"github.com/rehearse-dev/rehearse/clusters/kustomization"
)

// overlay builds the objects of a folder with a kustomization. They have no line numbers, because transformers
// generate them.
func (l *loader) overlay(dir string) {
	built, err := kustomization.Build(dir)
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	for _, text := range built {
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
