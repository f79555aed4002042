// Package providers lists the providers of clusters. A new provider is a package, and one line here.
package providers

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/existing"
	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/local"
)

// All returns the providers that --provider supports, the default first.
func All() []clusters.Definition {
	return []clusters.Definition{
		local.Definition(),
		kind.Definition(),
		existing.Definition(),
	}
}

// Lasting returns the providers whose clusters can outlive the process that created them.
func Lasting() []clusters.Definition {
	var lasting []clusters.Definition
	for _, d := range All() {
		if d.Lasting {
			lasting = append(lasting, d)
		}
	}
	return lasting
}
