// Package scheduling is the suite for kube-scheduler: its profiles, and gang scheduling (KEP-4671).
package scheduling

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of kube-scheduler.
func Definition() suites.Definition {
	return suites.Definition{Name: "scheduling", Title: "Profiles and gangs of kube-scheduler", Requirements: Requirements}
}

// Requirements returns the suite's requirements in the order in which they are written.
func Requirements() ([]suites.Requirement, error) {
	return suites.LoadRequirements(files, "requirements.yaml")
}
