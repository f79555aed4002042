package clusters

import (
	"context"
	"errors"
	"io"
)

// PodExecutor is a Cluster with real pods, in which commands can be run.
type PodExecutor interface {
	// ExecInPod runs a command in a container of a pod ("" for its only or default one), with that standard input (nil for none), and returns
	// what it wrote and its exit code. The error is of what kept the command from running (errors.Is(err, ErrNotStarted) where it certainly
	// did not run), or from being seen to end; a command that ends by itself is none, whatever its exit code.
	ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (stdout, stderr []byte, exitCode int, err error)
}

// ErrNotStarted is of a command that could not be started in a pod.
var ErrNotStarted = errors.New("the command was not started")

// Reacher is a Provider whose clusters are there already, and may not answer.
type Reacher interface {
	// Reach says, before anything else is asked, why the provider cannot be used, or nil. errors.Is(err, ErrUnreachable) where nobody answers; every
	// other error is one of the user's input.
	Reach(ctx context.Context) error
}

// ErrUnreachable is of a cluster that does not answer.
var ErrUnreachable = errors.New("the cluster cannot be reached")

// MethodConverger is a Cluster that can be brought to a state in more than one way.
type MethodConverger interface {
	// ConvergeBy is Converge by the method of that name; "" is Converge itself. It refuses methods that it does not know, and states that the
	// method cannot reach.
	ConvergeBy(ctx context.Context, state State, method string) error
}

// MethodChecker is a Provider whose clusters know more than one way to a state.
type MethodChecker interface {
	// CheckMethod says, before anything starts, why the provider's clusters cannot go from one resolved state to another by the method of that
	// name, or nil. Providers without it know no methods.
	CheckMethod(from, to State, method string) error
}

// GatedCluster is a Cluster of which more than the control plane has feature gates.
type GatedCluster interface {
	// GatedComponents are all of its components that have feature gates and can be asked for them (MetricsSource).
	GatedComponents() []Component
}

// GateTeller is a Provider that knows which feature gates need which, and what they decide about.
type GateTeller interface {
	// GateDependencies are the gates that must be on where a gate is on, in the version of a resolved state; none where that is not known.
	GateDependencies(ctx context.Context, state State, gate string) []string
	// BlameForField says in a clause which gate is likely to be the reason that an API server in a resolved state dropped a field of a
	// kind, given the names and places in lists that lead to it; "" where none is known.
	BlameForField(ctx context.Context, state State, kind string, path []any) string
}

// Ability is what the clusters of some providers can do and others cannot, as scenarios name it.
type Ability string

// The abilities that a scenario may need.
const (
	// AbilityExec is that of a PodExecutor.
	AbilityExec Ability = "exec"
	// AbilitySnapshots is that of a Snapshotter.
	AbilitySnapshots Ability = "snapshots"
	// AbilitySimulatedNodes is that of a NodeSimulator.
	AbilitySimulatedNodes Ability = "simulatedNodes"
	// AbilityPodImage is that of clusters on whose nodes pods of PodImage run, which a PodImageTeller tells.
	AbilityPodImage Ability = "podImage"
	// AbilitySchedulers is that of a SchedulerRunner.
	AbilitySchedulers Ability = "schedulers"
	// AbilityOneEtcd is that of an EtcdKeeper.
	AbilityOneEtcd Ability = "oneEtcd"
	// AbilityBreakages is that of a BreakageTeller.
	AbilityBreakages Ability = "breakages"
	// AbilityControlPlanes is that of a ControlPlanesRunner.
	AbilityControlPlanes Ability = "controlPlanes"
)

// PodImage is for pods of a scenario's own: busybox with sh, sleep, nc, nslookup, httpd and the like. Node images that are built here have it,
// others do not; simulated nodes run every image, but nothing in it.
const PodImage = "localhost/rehearse-pod:1"

// PodImageTeller is a Provider that knows on which clusters' nodes pods of PodImage run.
type PodImageTeller interface {
	// HasPodImage says whether the nodes of a cluster that is created in that state, whose version may be a minor one, run it. The error is of
	// what kept it from being known.
	HasPodImage(ctx context.Context, state State) (bool, error)
}

// Abilities lists them all.
func Abilities() []Ability {
	return []Ability{AbilityExec, AbilitySnapshots, AbilitySimulatedNodes, AbilityPodImage, AbilitySchedulers, AbilityOneEtcd, AbilityBreakages, AbilityControlPlanes}
}

// NodeSimulator is a Cluster whose nodes are simulated: as many as wanted, with any name and capacity.
type NodeSimulator interface {
	// SimulatesNodes tells it from those whose nodes are real, and does nothing.
	SimulatesNodes()
}

// NodeLabel marks the nodes that a state asked for, so that a user's own are left alone.
const NodeLabel = "rehearse.dev/node"

// SchedulerRunner is a Cluster that can have kube-schedulers beside the first.
type SchedulerRunner interface {
	// RunsSchedulers does nothing.
	RunsSchedulers()
}

// EtcdKeeper is a Cluster whose etcd is the same with every version of Kubernetes. Where etcd is of Kubernetes' version a cluster cannot go down from
// 1.34, which brought etcd 3.6, to 1.33.
type EtcdKeeper interface {
	// KeepsEtcd does nothing.
	KeepsEtcd()
}

// ControlPlanesRunner is a Cluster that can have several control planes.
type ControlPlanesRunner interface {
	// RunsControlPlanes does nothing.
	RunsControlPlanes()
}

// Has says whether a cluster, which may be a nil pointer of its type, has an ability by its type; AbilityPodImage nobody has so.
func Has(c Cluster, a Ability) bool {
	has := false
	switch a {
	case AbilityExec:
		_, has = c.(PodExecutor)
	case AbilitySnapshots:
		_, has = c.(Snapshotter)
	case AbilitySimulatedNodes:
		_, has = c.(NodeSimulator)
	case AbilitySchedulers:
		_, has = c.(SchedulerRunner)
	case AbilityOneEtcd:
		_, has = c.(EtcdKeeper)
	case AbilityBreakages:
		_, has = c.(BreakageTeller)
	case AbilityControlPlanes:
		_, has = c.(ControlPlanesRunner)
	}
	return has
}
