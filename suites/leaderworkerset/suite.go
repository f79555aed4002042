// Package leaderworkerset holds what is required of LeaderWorkerSet: KEP-173, a headless Service per replica.
package leaderworkerset

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
