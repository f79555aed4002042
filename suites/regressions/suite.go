// Package regressions contains real regressions of Kubernetes: each is a scenario that shows what happens in the
// affected versions.
package regressions

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of Kubernetes' regressions.
func Definition() suites.Definition {
	return suites.Definition{Name: "regressions", Title: "Regressions of Kubernetes", Files: files}
}
