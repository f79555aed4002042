package clusters

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
)

// Provider makes clusters. Everything it creates is gone after Delete, or is found and removed by its next use.
type Provider interface {
	// Name of the provider as --provider takes it: local, kind, existing.
	Name() string
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
	// Converge brings the cluster from whatever it is to the given, resolved state. Objects survive. When it returns nil the
	// components run that version, their gates are proven by their own metric, and a real request has been answered.
	Converge(ctx context.Context, state State) error
	// Collect writes logs and dumps into a folder, for a person who must find out why.
	Collect(ctx context.Context, dir string) error
	// Delete removes the cluster and all that it left on the machine.
	Delete(ctx context.Context) error
}

// ComponentController is a Cluster whose components can be stopped and started one at a time.
type ComponentController interface {
	// Kill ends the component without warning (SIGKILL) and leaves it down until Restart or Converge.
	Kill(ctx context.Context, component Component) error
	// Restart stops the component if it runs, starts it as it was, and returns when it is ready.
	Restart(ctx context.Context, component Component) error
}

// Rediscoverer is a Cluster whose controllers can be told that there are new kinds of objects.
type Rediscoverer interface {
	// Rediscover makes kube-controller-manager look for kinds at once. By itself it does so every 30 s, and until then does not collect what belongs
	// to an object of a kind that it does not know.
	Rediscover(ctx context.Context) error
}

// MetricsSource is a Cluster whose components' metrics can be read.
type MetricsSource interface {
	// Metrics returns the component's /metrics in the Prometheus text format.
	Metrics(ctx context.Context, component Component) ([]byte, error)
}

// DNSServer is a Cluster that answers DNS for its Services.
type DNSServer interface {
	// DNS returns host:port of a DNS server (UDP and TCP) for the zone cluster.local, starting it if need be. It
	// returns when the server is ready.
	DNS(ctx context.Context) (string, error)
}

// Watchdog is a Cluster that notices when one of its components dies.
type Watchdog interface {
	// Died yields an error for every component that ended without being told to, with its last lines.
	Died() <-chan error
}

// ComponentLogs is a Cluster that keeps its components' logs in files.
type ComponentLogs interface {
	// LogFiles returns the log files of every component, one for each of its starts, in the order of the starts.
	LogFiles() map[Component][]string
}

// ProcessTeller is a Cluster that tells when its components began and ended.
type ProcessTeller interface {
	// ProcessLives are all starts of its processes so far, in order.
	ProcessLives() []ProcessLife
}

// ProcessLife is one start of a component.
type ProcessLife struct {
	Component Component
	// Version that was started; "" for what has none of Kubernetes.
	Version string
	// Ready and Ended are zero as long as that has not come.
	Started, Ready, Ended time.Time
	// Unasked says that it ended by itself.
	Unasked bool
}

// HostReachable is a Cluster that tells where this machine is for its API server.
type HostReachable interface {
	// HostAddress is the address of this machine that the API server reaches: where webhooks must be served. Without this interface, or
	// when it is "", the API server runs on this machine and reaches 127.0.0.1.
	HostAddress() string
}

// UserMaker is a Cluster that makes users.
type UserMaker interface {
	// User returns what a user of that name, in these groups, reaches the API server with; keys and certificates are in it.
	User(name string, groups ...string) (*rest.Config, error)
}

// Housed is a Cluster with a folder of its own on this machine, which is removed with it, also after a run that was killed.
type Housed interface {
	// Folder is its path; mode 0700.
	Folder() string
}

// Snapshotter is a Cluster of which all that is stored can be kept and put back.
type Snapshotter interface {
	// Snapshot keeps what is stored in the cluster as it is now under a name, which must be new; it lasts as long as the cluster.
	Snapshot(ctx context.Context, name string) error
	// Restore puts back what was stored at the snapshot of that name. The components start anew as they are now, in the versions and with the
	// gates of now. Watches must begin with a list, since resourceVersions count on from those of the snapshot.
	Restore(ctx context.Context, name string) error
}

// Copier is a Provider that makes clusters from what is stored in others of theirs, which takes less time than from nothing.
type Copier interface {
	// Copy keeps what is stored in one of the provider's clusters as it is now, under a name unique on this machine. It outlives the cluster.
	Copy(ctx context.Context, cluster Cluster, name string) (Copied, error)
	// CreateFrom is Create, but the new cluster begins with what is stored in another one that is in that state. What is one cluster's alone is
	// not taken over: certificates, addresses, leases, events, and the configurations of webhooks, since who serves them is another.
	CreateFrom(ctx context.Context, name string, state State, from Copied) (Cluster, error)
}

// Copied is what was stored in a cluster.
type Copied interface {
	// Discard removes it; clusters that were made from it stay.
	Discard() error
}

// Progress tells a person what is going on during long work: one short line, present tense, no trailing dot.
type Progress func(format string, args ...any)
