package states

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// systemService checks a system with or without a service, after a change.
func systemService(v *Check, s clusters.System, n *yamltree.Node) {
	p := s.Launched()
	if p == nil {
		return
	}
	if p.Service != "" {
		if s.WebhookCalls != nil && s.WebhookCalls.Certificate != "" && len(p.Webhooks) == 0 {
			v.At(n.At("webhookCalls"), "", "a system with a service and without webhooks registers them itself, with its own "+
				"certificate; only away and delay are supported")
		}
		return
	}
	s.Versions = nil // only what applies at this version
	for _, text := range s.Texts {
		_, err := clusters.ExpandSystem(text,
			func(name string) (string, bool) { return name, name != clusters.ServiceAddress })
		if err != nil {
			v.At(n, "add service: NAME to its process or module", "system %q: $(%s) is the address of a service, but the "+
				"system has none", words.Short(s.Name), clusters.ServiceAddress)
			return
		}
	}
}
