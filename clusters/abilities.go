package clusters

import (
	"context"
	"io"
)

// PodExecutor is a Cluster with real pods, in which commands can be run.
type PodExecutor interface {
	// ExecInPod runs a command in a container of a pod ("" for its only or default one), with that standard input (nil for none), and returns
	// what it wrote and its exit code. The error is of what kept the command from running, or from being seen to end; a command that ends
	// by itself is none, whatever its exit code.
	ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (stdout, stderr []byte, exitCode int, err error)
}

// MethodConverger is a Cluster that can be brought to a state in more than one way.
type MethodConverger interface {
	// ConvergeBy is Converge by the method of that name; "" is Converge itself. It refuses methods that it does not know, and states that the
	// method cannot reach.
	ConvergeBy(ctx context.Context, state State, method string) error
}
