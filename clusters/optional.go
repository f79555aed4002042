package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/rest"
)

// What providers and their clusters may do beyond Provider and Cluster: whoever needs it asks for the interface. Those
// that a scenario may need have a name, too (Ability).

// Borrower is a Provider of a cluster that is somebody else's: it neither creates nor deletes it.
type Borrower interface {
	// Borrowed names the cluster for a person: "cluster prod (context admin)".
	Borrowed() string
	// Reach says, before anything else is asked, why the cluster cannot be used, or nil.
	// errors.Is(err, ErrUnreachable) where nobody answers; every other error is one of the user's input.
	Reach(ctx context.Context) error
}

// ErrUnreachable is of a cluster that does not answer.
var ErrUnreachable = errors.New("the cluster cannot be reached")

// LastingProvider is a Provider whose clusters can outlive the process that made them.
type LastingProvider interface {
	Provider
	// Names lists them. Clusters that are not ours are never among them.
	Names() ([]string, error)
	// Describe looks at one of them; errors.Is(err, ErrNotFound) when there is none of that name.
	Describe(ctx context.Context, name string) (Description, error)
	// Open takes one of them for this process; errors.Is(err, ErrNotFound) when there is none of that name.
	Open(ctx context.Context, name string) (LastingCluster, error)
}

// LastingCluster is a Cluster that can outlive the process.
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

// ErrNotFound is returned for a cluster that does not exist.
var ErrNotFound = errors.New("no such cluster")

// Copier is a Provider that makes clusters from what is stored in others of theirs, which takes less time than from
// nothing.
type Copier interface {
	// Copy keeps what is stored in one of the provider's clusters as it is now, under a name unique on this machine. It
	// outlives the cluster.
	Copy(ctx context.Context, cluster Cluster, name string) (Copied, error)
	// CreateFrom is Create, but the new cluster begins with what is stored in another one that is in that state. What is
	// one cluster's alone is not taken over: certificates, addresses, leases, events, and the configurations of
	// webhooks, since who serves them is another.
	CreateFrom(ctx context.Context, name string, state State, from Copied) (Cluster, error)
}

// Copied is what was stored in a cluster.
type Copied interface {
	// Discard removes it; clusters that were made from it stay.
	Discard() error
}

// Sizer is a Provider that knows what its clusters take, so that as many run at once as there is room for.
type Sizer interface {
	// Footprint of a cluster on its way through these states.
	Footprint(path []State) Footprint
}

// Footprint is what one cluster takes of this machine.
type Footprint struct {
	// Memory in bytes, at most.
	Memory int64
	// Only: there can be no second one at the same time.
	Only bool
}

// Configurer is a Provider that makes clusters by a configuration for somebody else's tool.
type Configurer interface {
	// Config is the configuration for a cluster in a resolved state.
	Config(ctx context.Context, state State) ([]byte, error)
}

// GateTeller is a Provider that knows which feature gates need which, and what they decide about.
type GateTeller interface {
	// GateDependencies are the gates that must be on where a gate is on, in the version of a resolved state; none where
	// that is not known.
	GateDependencies(ctx context.Context, state State, gate string) []string
	// BlameForField says in a clause which gate is likely to be the reason that an API server in a resolved state
	// dropped a field of a kind, given the names and places in lists that lead to it; "" where none is known.
	BlameForField(ctx context.Context, state State, kind string, path []any) string
}

// MethodChecker is a Provider whose clusters know more than one way to a state: they are MethodConvergers.
type MethodChecker interface {
	// CheckMethod says, before anything starts, why the provider's clusters cannot go from one resolved state to another
	// by the method of that name, or nil. Providers without it know no methods.
	CheckMethod(from, to State, method string) error
}

// MethodConverger is a Cluster that can be brought to a state in more than one way.
type MethodConverger interface {
	// ConvergeBy is Converge by the method of that name; "" is Converge itself. It rejects methods that it does not
	// know, and states that the method cannot reach.
	ConvergeBy(ctx context.Context, state State, method string) error
}

// Rolling is a Cluster whose control planes, where it has several, are changed one after the other: a transition can
// stop between two of them, and each API server be asked (AbilityMixedVersions).
type Rolling interface {
	// Roll is Converge in an order, and up to a place in it.
	Roll(ctx context.Context, state State, roll Roll) error
	// Servers are the API servers that run, in the order of their control planes.
	Servers() []Server
}

// Roll says in which order control planes come to a state, and how far. The zero value is Converge itself: all
// components of one control plane, then those of the next.
type Roll struct {
	// APIServersFirst changes one component after the other: all API servers, then all controller managers, then all
	// schedulers; to an older version the other way round.
	APIServersFirst bool
	// UpTo ends as soon as that many control planes are in the state, or with APIServersFirst that many components; 0 is
	// all of them. Those that are in the state already count.
	UpTo int
}

// Most is how many control planes, or components, there are to change where a cluster has so many control planes.
func (r Roll) Most(controlPlanes int) int {
	if r.APIServersFirst {
		return controlPlanes * len(ControlPlane())
	}
	return controlPlanes
}

// Server is one of several API servers.
type Server struct {
	// Plane is the number of its control plane, from 0.
	Plane int
	// Version of Kubernetes that it runs.
	Version string
	// Behind says that the last transition stopped before it came to this control plane.
	Behind bool
	// REST and Kubeconfig reach it, as a cluster administrator.
	REST       *rest.Config
	Kubeconfig string
}

// String is the server's name and version: kube-apiserver@1 (1.35.4).
func (s Server) String() string { return fmt.Sprintf("%s (%s)", APIServer.On(s.Plane), s.Version) }

// PodExecutor is a Cluster with real pods, in which commands can be run (AbilityExec).
type PodExecutor interface {
	// ExecInPod runs a command in a container of a pod ("" for its only or default one), with that standard input (nil
	// for none), and returns what it wrote and its exit code. The error is of what kept the command from running
	// (errors.Is(err, ErrNotStarted) where it certainly did not run), or from being seen to end; a command that ends by
	// itself is none, whatever its exit code.
	ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (
		stdout, stderr []byte, exitCode int, err error)
}

// ErrNotStarted is of a command that could not be started in a pod.
var ErrNotStarted = errors.New("the command was not started")

// Snapshotter is a Cluster of which all that is stored can be kept and put back (AbilitySnapshots).
type Snapshotter interface {
	// Snapshot keeps what is stored in the cluster as it is now under a name, which must be new; it lasts as long as the
	// cluster.
	Snapshot(ctx context.Context, name string) error
	// Restore puts back what was stored at the snapshot of that name. The components start anew as they are now, in the
	// versions and with the gates of now. Watches must begin with a list, since resourceVersions count on from those of
	// the snapshot.
	Restore(ctx context.Context, name string) error
}

// ComponentController is a Cluster whose components can be stopped and started one at a time (AbilityComponents).
type ComponentController interface {
	// Kill ends the component without warning (SIGKILL) and leaves it down until Restart or Converge.
	Kill(ctx context.Context, component Component) error
	// Restart stops the component if it runs, starts it as it was, and returns when it is ready.
	Restart(ctx context.Context, component Component) error
}

// Rediscoverer is a Cluster that can look for new kinds of objects at once.
type Rediscoverer interface {
	// Rediscover makes kube-controller-manager look for kinds at once. By itself it does so every 30 s, and until then
	// does not collect what belongs to an object of a kind that it does not know.
	Rediscover(ctx context.Context) error
}

// MetricsSource is a Cluster whose components' metrics can be read (AbilityMetrics).
type MetricsSource interface {
	// Metrics returns the component's /metrics in the Prometheus text format.
	Metrics(ctx context.Context, component Component) ([]byte, error)
}

// GatedCluster is a Cluster of which more than the control plane has feature gates.
type GatedCluster interface {
	// GatedComponents are all of its components that have feature gates and show them in their metrics (MetricsSource).
	GatedComponents() []Component
}

// DNSServer is a Cluster that answers DNS for its Services (AbilityDNS).
type DNSServer interface {
	// DNS returns host:port of a DNS server (UDP and TCP) for the zone cluster.local, starting it if need be. It returns
	// when the server is ready.
	DNS(ctx context.Context) (string, error)
}

// ProcessRunner is a Cluster whose components are processes on this machine.
type ProcessRunner interface {
	// Died yields an error for every component that ended by itself, with its last lines.
	Died() <-chan error
	// LogFiles returns the log files of every component, one for each of its starts, in the order of the starts.
	LogFiles() map[Component][]string
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

// HostReachable is a Cluster that knows where this machine is for its API server.
type HostReachable interface {
	// HostAddress is the address of this machine that the API server reaches: where webhooks must be served. Without
	// this interface, or when it is "", the API server runs on this machine and reaches 127.0.0.1.
	HostAddress() string
}

// UserMaker is a Cluster that makes users.
type UserMaker interface {
	// User returns what a user of that name, in these groups, reaches the API server with; keys and certificates are in
	// it.
	User(name string, groups ...string) (*rest.Config, error)
}

// Housed is a Cluster with a folder of its own on this machine, which is removed with it, also after a run that was
// killed.
type Housed interface {
	// Folder is its path; mode 0700.
	Folder() string
}
