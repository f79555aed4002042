package kind

import (
	"context"
	"io"

	"github.com/rehearse-dev/rehearse/clusters/podexec"
)

// ExecInPod runs a command in a container of a pod.
func (c *Cluster) ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (stdout, stderr []byte, exitCode int, err error) {
	return podexec.Exec(ctx, c.rest, namespace, pod, container, command, stdin)
}
