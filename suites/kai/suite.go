// Package kai is the suite for KAI's PodGroups: lowercase sub group names.
package kai

import (
	"embed"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/kai/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

//go:embed requirements.yaml
var files embed.FS

// Definition is the suite of KAI's PodGroups.
func Definition() suites.Definition {
	own := &simulators.Simulator{
		Run: simulator.Run, Groups: []string{api.GroupVersion.Group},
		Faults: simulator.Faults(), Liberties: simulator.Liberties(),
		Variants: simulator.Variants(), Probes: simulator.Probes(),
	}
	return suites.Definition{
		Name: simulator.Name, Title: "Lowercase sub group names on KAI's simulator",
		Files: files, Profiles: profiles(), Rules: Rules(), Simulator: own,
	}
}

// profiles are the places where an implementation may have the rule. Older versions do not have it.
func profiles() []suites.Profile {
	var profiles []suites.Profile
	for _, variant := range []string{simulator.Both, simulator.Webhook, simulator.CRD} {
		profiles = append(profiles, suites.Profile{Name: variant, Variants: []string{variant, simulator.Older}})
	}
	return profiles
}
