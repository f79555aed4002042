package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
)

// ExecInPod runs a command in a container of a pod ("" for its only or default one) and returns what it wrote and its exit code. The error is of what kept it
// from running, or from being seen to end; a command that ends by itself is none, whatever its exit code.
func (c *Cluster) ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (stdout, stderr []byte, exitCode int, err error) {
	failed := func(err error) ([]byte, []byte, int, error) {
		return nil, nil, 0, fmt.Errorf("run a command in pod %s/%s: %w", namespace, pod, err)
	}
	request := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdin: stdin != nil, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(c.rest, "GET", request.URL().String())
	if err != nil {
		return failed(err)
	}
	var out, said bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: &out, Stderr: &said})
	var ended utilexec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		return out.Bytes(), said.Bytes(), ended.ExitStatus(), nil
	}
	if err != nil {
		return failed(err)
	}
	return out.Bytes(), said.Bytes(), 0, nil
}
