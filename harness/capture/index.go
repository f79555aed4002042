// Package capture exports the objects of a live cluster, read-only, to a file. An upgrade can be rehearsed elsewhere
// with that file.
package capture

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Format is the version of the file format. It increases when an older rehearse cannot read the new format.
const Format = 1

// Index describes the content of a capture.
type Index struct {
	Format int `json:"format"`
	// Source is the context of the cluster.
	Source string `json:"source"`
	// Version of its API server, such as 1.34.4. GitVersion is what the API server reports; it may name a vendor.
	Version    string    `json:"version"`
	GitVersion string    `json:"gitVersion"`
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	// Gates of the API server. If they could not be read, GatesUnknown says why.
	Gates        map[string]bool `json:"gates,omitempty"`
	GatesUnknown string          `json:"gatesUnknown,omitempty"`
	// Served are the group versions of Kubernetes' own APIs, without custom resources and aggregated API servers.
	Served []string `json:"served,omitempty"`
	// Secrets says that the values of Secrets are real.
	Secrets bool `json:"secrets"`
	// Kinds that were read, with the number of objects of each.
	Kinds []Kind `json:"kinds"`
	// Missing is what could not be read, and why.
	Missing []Missing `json:"missing,omitempty"`
	// Left is what is never read, and why.
	Left []Missing `json:"left,omitempty"`
}

// Kind is one resource that was read.
type Kind struct {
	storage.Resource
	Objects int `json:"objects"`
}

// Missing is something that is not in a capture.
type Missing struct {
	// What names a resource, such as deployments.apps, or a group version.
	What string `json:"what"`
	Why  string `json:"why"`
}

// Objects returns the number of objects.
func (i *Index) Objects() int {
	n := 0
	for _, kind := range i.Kinds {
		n += kind.Objects
	}
	return n
}

// String describes what the capture contains, and what it lacks.
func (i *Index) String() string {
	var b strings.Builder
	kinds := 0
	for _, kind := range i.Kinds {
		if kind.Objects > 0 {
			kinds++
		}
	}
	fmt.Fprintf(&b, "%d objects of %d kinds of cluster %s (Kubernetes %s)\n", i.Objects(), kinds, i.Source,
		i.GitVersion)
	if i.GatesUnknown != "" {
		fmt.Fprintf(&b,
			"its feature gates could not be read: %s; set non-default gates with --from-feature-gates\n",
			i.GatesUnknown)
	}
	for _, m := range i.Missing {
		fmt.Fprintf(&b, "not read: %s: %s\n", m.What, m.Why)
	}
	for _, m := range i.Left {
		fmt.Fprintf(&b, "left out: %s: %s\n", m.What, m.Why)
	}
	if !i.Secrets {
		b.WriteString("the values of Secrets are dummies of the same length; --with-secrets keeps the real ones\n")
	}
	return b.String()
}
