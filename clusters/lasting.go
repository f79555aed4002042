package clusters

import (
	"context"
	"errors"
)

// ErrNotFound is returned for a cluster that does not exist.
var ErrNotFound = errors.New("no such cluster")

// LastingProvider is a Provider whose clusters may outlive the process that made them.
type LastingProvider interface {
	Provider
	// Names lists them. Clusters that are not ours are never among them.
	Names() ([]string, error)
	// Describe looks at one of them; errors.Is(err, ErrNotFound) when there is none of that name.
	Describe(ctx context.Context, name string) (Description, error)
	// Open takes one of them for this process; errors.Is(err, ErrNotFound) when there is none of that name.
	Open(ctx context.Context, name string) (LastingCluster, error)
}

// LastingCluster is a Cluster that may outlive the process.
type LastingCluster interface {
	Cluster
	// Release lets go of the cluster without ending it.
	Release()
}

// Description is what is known of a lasting cluster without touching it.
type Description struct {
	State State
	// Running are the names of its processes, or of its nodes, that live.
	Running []string
	// Kubeconfig is the administrator's.
	Kubeconfig string
}
