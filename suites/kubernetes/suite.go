// Package kubernetes is the suite for Kubernetes itself: so far, relaxed validation of Service names (KEP-5311).
package kubernetes

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of Kubernetes itself.
func Definition() suites.Definition {
	return suites.Definition{
		Name: "kubernetes", Title: "KEP-5311 on Kubernetes", Files: files,
		Rules: Rules(),
	}
}
