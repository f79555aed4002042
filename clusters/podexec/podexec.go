// Package podexec runs commands in the pods of a cluster.
package podexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/rehearse-dev/rehearse/clusters"
)

// maxOutput is how many bytes of each output stream are kept in memory: far more than a scenario can check.
const maxOutput = 16 << 20

// capped keeps the beginning of the data, and drops the rest, so that the command does not block.
type capped struct{ bytes.Buffer }

func (c *capped) Write(data []byte) (int, error) {
	c.Buffer.Write(data[:min(len(data), maxOutput-c.Len())])
	return len(data), nil
}

// Exec is clusters.PodExecutor's ExecInPod for the cluster that a configuration reaches.
func Exec(ctx context.Context, config *rest.Config, namespace, pod, container string, command []string,
	stdin io.Reader,
) (stdout, stderr []byte, exitCode int, err error) {
	var out, said capped
	err = stream(ctx, config, namespace, pod, container, command,
		remotecommand.StreamOptions{Stdin: stdin, Stdout: &out, Stderr: &said})
	var ended utilexec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &ended) && ended.Exited():
		exitCode, err = ended.ExitStatus(), nil
	case unstarted(err):
		err = fmt.Errorf("run a command in pod %s/%s: %w: %w", namespace, pod, clusters.ErrNotStarted, err)
	default:
		err = fmt.Errorf("run a command in pod %s/%s: %w", namespace, pod, err)
	}
	return out.Bytes(), said.Bytes(), exitCode, err
}

func stream(ctx context.Context, config *rest.Config, namespace, pod, container string, command []string,
	o remotecommand.StreamOptions,
) error {
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return err
	}
	request := client.RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: container, Command: command, Stdin: o.Stdin != nil, Stdout: true,
			Stderr: true,
		}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, o)
}

// beforeTheStart matches an API server's errors on an upgraded connection if it cannot reach the kubelet, or if the
// container does not exist (k8s.io/apiserver/pkg/util/proxy, k8s.io/kubelet/pkg/cri/streaming).
var beforeTheStart = regexp.MustCompile(`unable to upgrade connection|error dialing backend|container not found|connection refused`)

// unstarted reports whether the command certainly did not run.
func unstarted(err error) bool {
	return httpstream.IsUpgradeFailure(err) || beforeTheStart.MatchString(err.Error())
}
