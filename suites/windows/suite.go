// Package windows is the suite for upgrades in progress: API servers of two versions serve, or programs emulate an
// older version.
package windows

import (
	"embed"
	"maps"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/windows/policy"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite for upgrades in progress.
func Definition() suites.Definition {
	others := simulators.Catalog{policy.Name: policy.Simulator()}
	for _, system := range []suites.Definition{kai.Definition(), leaderworkerset.Definition(), grove.Definition()} {
		maps.Copy(others, system.Catalog())
	}
	return suites.Definition{
		Name: "windows", Title: "The window of an upgrade", Files: files, Others: others,
	}
}
