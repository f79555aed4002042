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
	return suites.Definition{Name: "scheduling", Title: "Profiles and gangs of kube-scheduler", Files: files}
}
