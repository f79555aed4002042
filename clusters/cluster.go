package clusters

import (
	"context"

	"k8s.io/client-go/rest"
)

// Provider makes clusters. Everything that it creates is removed by Delete, or otherwise by its next use.
type Provider interface {
	// Name of the provider as --provider takes it: local, kind, existing.
	Name() string
	// Has reports whether a cluster that is created in a state has an ability. The state's version may be a minor one.
	// It returns an error if that cannot be determined.
	Has(ctx context.Context, ability Ability, state State) (bool, error)
	// Check returns an error if the provider cannot take a cluster through these states, in this order. It is called
	// before anything starts. The states' versions are resolved (Resolve).
	Check(ctx context.Context, path []State) error
	// Resolve returns the state with its version made exact ("1.34" becomes "1.34.4").
	Resolve(ctx context.Context, state State) (State, error)
	// Prepare gets what a state needs (binaries, images), and reports its progress to the provider's Progress.
	Prepare(ctx context.Context, state State) error
	// Create creates a cluster in the given, resolved state, and returns when it can be used.
	Create(ctx context.Context, name string, state State) (Cluster, error)
}

// Cluster is one running cluster.
type Cluster interface {
	// Name of the cluster, unique on this machine.
	Name() string
	// State that the last Create or Converge reached.
	State() State
	// RESTConfig connects to the API server as a cluster administrator. It stays valid through every Converge.
	RESTConfig() *rest.Config
	// KubeconfigPath is the kubeconfig of a cluster administrator, mode 0600.
	KubeconfigPath() string
	// Converge changes the cluster from its current state to the given, resolved state. Objects survive. When it returns
	// nil, the components run that version, their own metric proves their gates, and a real request was answered.
	Converge(ctx context.Context, state State) error
	// Collect writes logs and dumps into a folder, for troubleshooting.
	Collect(ctx context.Context, dir string) error
	// Delete removes the cluster and everything that it left on the machine.
	Delete(ctx context.Context) error
}

// Progress reports the progress of long work to the user: one short line, present tense, no trailing dot.
type Progress func(format string, args ...any)
