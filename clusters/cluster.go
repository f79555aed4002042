package clusters

import (
	"context"

	"k8s.io/client-go/rest"
)

// Provider makes clusters. Everything it creates is gone after Delete, or is found and removed by its next use.
type Provider interface {
	// Name of the provider as --provider takes it: local, kind, existing.
	Name() string
	// Has says whether a cluster that is created in a state, whose version may be a minor one, has an ability. The error
	// is of what kept it from being known.
	Has(ctx context.Context, ability Ability, state State) (bool, error)
	// Check says, before anything starts, why the provider cannot take a cluster through these states (in this order),
	// or nil. The states' versions are resolved (Resolve).
	Check(ctx context.Context, path []State) error
	// Resolve returns the state with its version made exact ("1.34" becomes "1.34.4").
	Resolve(ctx context.Context, state State) (State, error)
	// Prepare gets whatever a state needs (binaries, images), saying how far it is through the Progress it was made with.
	Prepare(ctx context.Context, state State) error
	// Create brings up a new cluster in the given, resolved state, and returns when it can be used.
	Create(ctx context.Context, name string, state State) (Cluster, error)
}

// Cluster is one running cluster.
type Cluster interface {
	// Name of the cluster, unique on this machine.
	Name() string
	// State that the cluster is in: what the last Create or Converge reached.
	State() State
	// RESTConfig reaches the API server as a cluster administrator; it stays valid through every Converge.
	RESTConfig() *rest.Config
	// KubeconfigPath is a file, mode 0600, with which kubectl reaches the cluster as an administrator.
	KubeconfigPath() string
	// Converge brings the cluster from whatever it is to the given, resolved state. Objects survive. When it returns nil
	// the components run that version, their gates are proven by their own metric, and a real request has been answered.
	Converge(ctx context.Context, state State) error
	// Collect writes logs and dumps into a folder, for a person who must find out why.
	Collect(ctx context.Context, dir string) error
	// Delete removes the cluster and all that it left on the machine.
	Delete(ctx context.Context) error
}

// Progress tells a person what is going on during long work: one short line, present tense, no trailing dot.
type Progress func(format string, args ...any)
