// Package porch holds what is required of Porch's engine: its validation and business rules.
package porch

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
)

//go:embed requirements.yaml
var files embed.FS

// Requirements returns the suite's requirements in the order in which they are written.
func Requirements() ([]suites.Requirement, error) {
	return suites.LoadRequirements(files, "requirements.yaml")
}
