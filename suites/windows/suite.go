// Package windows holds what must be true while API servers of two versions serve, and while programs emulate an older
// version.
package windows

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/kai"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of the window of an upgrade.
func Definition() suites.Definition {
	return suites.Definition{
		Name: "windows", Title: "The window of an upgrade", Requirements: Requirements, Others: kai.Definition().Catalog(),
	}
}

// Requirements returns the suite's requirements in the order in which they are written.
func Requirements() ([]suites.Requirement, error) {
	return suites.LoadRequirements(files, "requirements.yaml")
}
