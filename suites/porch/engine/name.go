package engine

import (
	"path"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// Name of a revision's object: {repo}-{path}-{package}-{workspace}.
func (r Rules) Name(spec *v1alpha1.PackageRevisionSpec) string {
	name := spec.PackageName
	if r.Has(NameWithoutPath) {
		name = path.Base(name)
	}
	elements := append([]string{spec.RepositoryName}, strings.Split(name, "/")...)
	return strings.Join(append(elements, spec.WorkspaceName), "-")
}
