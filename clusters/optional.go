package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
)

// Optional interfaces of providers and clusters, beyond Provider and Cluster: callers check with a type assertion.
// Those that a scenario may need also have a name (Ability).

// Borrower is a Provider of a cluster that belongs to the user: it neither creates nor deletes the cluster.
type Borrower interface {
	// Borrowed returns a name of the cluster for messages: "cluster prod (context admin)".
	Borrowed() string
	// Reach returns an error if the cluster cannot be used. It is called before everything else. If the cluster does not
	// answer, errors.Is(err, ErrUnreachable); every other error is a mistake in the user's input.
	Reach(ctx context.Context) error
}

// Lender is a Borrower whose cluster stays in use after a run: it is returned, not deleted.
type Lender interface {
	Borrower
	// Return takes the cluster back at the end of a run.
	Return(ctx context.Context, cluster Cluster) error
}

// ErrUnreachable is the error for a cluster that does not answer.
var ErrUnreachable = errors.New("the cluster cannot be reached")

// LastingProvider is a Provider whose clusters can outlive the process that made them.
type LastingProvider interface {
	Provider
	// Names lists the provider's clusters. It never includes clusters that rehearse did not create.
	Names() ([]string, error)
	// Describe describes one of them; errors.Is(err, ErrNotFound) if there is none of that name.
	Describe(ctx context.Context, name string) (Description, error)
	// Open opens one of them for this process; errors.Is(err, ErrNotFound) if there is none of that name.
	Open(ctx context.Context, name string) (LastingCluster, error)
}

// LastingCluster is a Cluster that can outlive the process.
type LastingCluster interface {
	Cluster
	// Release closes the cluster for this process without stopping it.
	Release()
}

// Description is what is known about a lasting cluster without opening it.
type Description struct {
	State State
	// Running are the names of its running processes or nodes.
	Running []string
	// Kubeconfig is the administrator's.
	Kubeconfig string
}

// ErrNotFound is returned for a cluster that does not exist.
var ErrNotFound = errors.New("no such cluster")

// Copier is a Provider that can create a cluster from the stored data of another one of its clusters, which is faster
// than to create an empty one.
type Copier interface {
	// Copy copies the current stored data of one of the provider's clusters, under a name that is unique on this
	// machine. The copy outlives the cluster.
	Copy(ctx context.Context, cluster Cluster, name string) (Copied, error)
	// CreateFrom is Create, but the new cluster starts with the data of a copied cluster that was in that state. Data
	// that belongs to the other cluster alone is left out: certificates, addresses, leases, events, and webhook
	// configurations, since other processes serve the webhooks.
	CreateFrom(ctx context.Context, name string, state State, from Copied) (Cluster, error)
}

// Copied is the copy of a cluster's data.
type Copied interface {
	// Discard removes the copy. Clusters that were created from it stay.
	Discard() error
}

// Seeder is a Provider whose clusters can start with data from elsewhere.
type Seeder interface {
	// CreateSeeded is Create, but etcd starts with the data of the seed.
	CreateSeeded(ctx context.Context, name string, state State, seed Seed) (Cluster, error)
}

// Seed is the initial data of a cluster's etcd.
type Seed interface {
	// Fill writes the data before an API server reads it. No other client is connected yet: no events, no watches.
	Fill(ctx context.Context, etcd clientv3.KV) error
}

// Sizer is a Provider that knows how much of this machine its clusters need. It limits how many run at once.
type Sizer interface {
	// Footprint returns the maximum for a cluster that goes through these states.
	Footprint(path []State) Footprint
}

// Footprint is what one cluster needs of this machine.
type Footprint struct {
	// Memory is the maximum in bytes.
	Memory int64
	// Only means that no second cluster can exist at the same time.
	Only bool
}

// Configurer is a Provider that creates clusters with an external tool, which reads a configuration.
type Configurer interface {
	// Config returns the configuration for a cluster in a resolved state.
	Config(ctx context.Context, state State) ([]byte, error)
}

// GateTeller is a Provider that knows the dependencies of feature gates, and which fields a gate controls.
type GateTeller interface {
	// GateDependencies returns the gates that a gate requires, in the version of a resolved state; none if they are
	// unknown.
	GateDependencies(ctx context.Context, state State, gate string) []string
	// BlameForField returns a clause about the feature gate that is the likely reason that an API server in a resolved
	// state dropped a field of a kind; "" if none is known. The path to the field has names and list indices.
	BlameForField(ctx context.Context, state State, kind string, path []any) string
}

// MethodChecker is a Provider whose clusters have more than one method to reach a state: they are MethodConvergers.
type MethodChecker interface {
	// CheckMethod returns an error if the provider's clusters cannot change from one resolved state to another by the
	// named method. It is called before anything starts. Providers without this interface have no methods.
	CheckMethod(from, to State, method string) error
}

// MethodConverger is a Cluster that can be brought to a state in more than one way.
type MethodConverger interface {
	// ConvergeBy is Converge by the named method; "" is Converge itself. It returns an error for an unknown method, and
	// for a state that the method cannot reach.
	ConvergeBy(ctx context.Context, state State, method string) error
}

// Rolling is a Cluster whose control planes are changed one after the other, if it has several. A transition can stop
// between two of them, and each API server can be asked (AbilityMixedVersions).
type Rolling interface {
	// Roll is Converge in a given order, and as far as roll says.
	Roll(ctx context.Context, state State, roll Roll) error
	// Servers returns the API servers that run, in the order of their control planes.
	Servers() []Server
}

// Roll is the order in which control planes change, and how many. The zero value is Converge itself: all components
// of one control plane, then those of the next.
type Roll struct {
	// APIServersFirst changes one kind of component after the other: all API servers, then all controller managers, then
	// all schedulers. To an older version, the order is reversed.
	APIServersFirst bool
	// UpTo is the number of control planes (with APIServersFirst: of components) that are in the state at the end; 0
	// means all. Those that are already in the state count.
	UpTo int
}

// Most returns the number of control planes (with APIServersFirst: of components) that Roll changes at most.
func (r Roll) Most(controlPlanes int) int {
	if r.APIServersFirst {
		return controlPlanes * len(ControlPlane())
	}
	return controlPlanes
}

// Server is one of several API servers.
type Server struct {
	// Plane is the number of its control plane, starting at 0.
	Plane int
	// Version of Kubernetes that it runs.
	Version string
	// Behind reports whether the last transition stopped before it reached this control plane.
	Behind bool
	// REST and Kubeconfig connect to it as a cluster administrator.
	REST       *rest.Config
	Kubeconfig string
}

// String returns the server's name and version: kube-apiserver@1 (1.35.4).
func (s Server) String() string { return fmt.Sprintf("%s (%s)", APIServer.On(s.Plane), s.Version) }

// PodExecutor is a Cluster with real pods, in which commands can be run (AbilityExec).
type PodExecutor interface {
	// ExecInPod runs a command in a container of a pod ("" for its only or default one), with that standard input (nil
	// for none), and returns its output and its exit code. It returns an error if the command could not run
	// (errors.Is(err, ErrNotStarted) if it certainly did not start), or if its end was not observed. A command that
	// exits is no error, whatever its exit code.
	ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (
		stdout, stderr []byte, exitCode int, err error)
}

// ErrNotStarted is the error for a command that could not be started in a pod.
var ErrNotStarted = errors.New("the command was not started")

// Snapshotter is a Cluster that can save and restore all its stored data (AbilitySnapshots).
type Snapshotter interface {
	// Snapshot saves the current stored data under a name, which must be new. The snapshot lasts as long as the cluster.
	Snapshot(ctx context.Context, name string) error
	// Restore restores the data of the named snapshot. The components are restarted with their current versions and
	// gates. Watches must begin with a list, since resourceVersions continue from those of the snapshot.
	Restore(ctx context.Context, name string) error
}

// ComponentController is a Cluster whose components can be stopped and started individually (AbilityComponents).
type ComponentController interface {
	// Kill ends the component without warning (SIGKILL) and leaves it down until Restart or Converge.
	Kill(ctx context.Context, component Component) error
	// Restart stops the component if it runs, starts it unchanged, and returns when it is ready.
	Restart(ctx context.Context, component Component) error
}

// Rediscoverer is a Cluster that can discover new kinds of objects at once.
type Rediscoverer interface {
	// Rediscover makes kube-controller-manager discover new kinds at once. By default it does so every 30 s; until then
	// it does not garbage-collect the dependents of objects of unknown kinds.
	Rediscover(ctx context.Context) error
}

// MetricsSource is a Cluster whose components' metrics can be read (AbilityMetrics).
type MetricsSource interface {
	// Metrics returns the component's /metrics in the Prometheus text format.
	Metrics(ctx context.Context, component Component) ([]byte, error)
}

// GatedCluster is a Cluster in which components outside of the control plane have feature gates, too.
type GatedCluster interface {
	// GatedComponents returns all its components that have feature gates and show them in their metrics (MetricsSource).
	GatedComponents() []Component
}

// DNSServer is a Cluster that answers DNS for its Services (AbilityDNS).
type DNSServer interface {
	// DNS returns host:port of a DNS server (UDP and TCP) for the zone cluster.local, and starts it if necessary. It
	// returns when the server is ready.
	DNS(ctx context.Context) (string, error)
}

// ProcessRunner is a Cluster whose components are processes on this machine.
type ProcessRunner interface {
	// Died yields an error for every component that exited unexpectedly, with its last log lines.
	Died() <-chan error
	// LogFiles returns the log files of every component, one for each start, in order.
	LogFiles() map[Component][]string
	// ProcessLives returns all starts of its processes so far, in order.
	ProcessLives() []ProcessLife
}

// ProcessLife is one start of a component.
type ProcessLife struct {
	Component Component
	// Version of Kubernetes that was started; "" if the component is not part of Kubernetes.
	Version string
	// Ready and Ended are zero until the component is ready or has ended.
	Started, Ready, Ended time.Time
	// Unasked reports whether it exited unexpectedly.
	Unasked bool
}

// HostReachable is a Cluster that knows the address of this machine for its API server.
type HostReachable interface {
	// HostAddress returns the address at which the API server reaches this machine: webhooks must be served there.
	// Without this interface, or if it is "", the API server runs on this machine and reaches 127.0.0.1.
	HostAddress() string
}

// WriteLister is a Cluster whose etcd can be asked what was written, also while no API server runs.
type WriteLister interface {
	// Written returns the keys that were written or deleted, by revision: after the first revision, up to the second.
	// It returns an error if etcd no longer has them.
	Written(ctx context.Context, after, upTo int64) (map[int64][]string, error)
}

// UserMaker is a Cluster that can create users.
type UserMaker interface {
	// User returns a client configuration of a user with that name and groups. It contains the key and the certificate.
	User(name string, groups ...string) (*rest.Config, error)
}

// Housed is a Cluster that has its own folder on this machine. The folder is removed with the cluster, even after a
// killed run.
type Housed interface {
	// Folder returns its path. Its mode is 0700.
	Folder() string
}
