package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// BenchmarkLiveJob runs suites as a Job of one pod, and then as a Job of three pods on three nodes. The nodes share the
// processors of this machine, so each pod gets the same part of them: one pod is one machine.
//
//   - job/ideal is the time of three pods by a third of the time of one pod, plus the start.
//   - s/start is the time from the creation of the Job until its last pod runs.
func BenchmarkLiveJob(b *testing.B) {
	needsKind(b)
	b.Chdir("../..")
	tag, archive := imageForJob(b)
	live := clusterForJob(b)
	loadImage(b, live.Name(), archive)
	suites := scenariosForJob(b)[:2] // without the scenario that fails
	for b.Loop() {
		one, start := timedJob(b, live, tag, 1, suites)
		one -= start
		three, start := timedJob(b, live, tag, 3, append(suites, "--timings", filepath.Join("report-1", pastruns.RunFile)))
		b.ReportMetric(three.Seconds()/(one.Seconds()/3+start.Seconds()), "job/ideal")
		b.ReportMetric(one.Seconds(), "s/one-pod")
		b.ReportMetric(three.Seconds(), "s/three-pods")
		b.ReportMetric(start.Seconds(), "s/start")
	}
}

// timedJob runs a Job whose scenarios pass. It returns how long that takes, and after what time the last pod runs.
func timedJob(b *testing.B, live *kind.Cluster, tag string, completions int, args []string) (took,
	start time.Duration,
) {
	b.Helper()
	began := time.Now()
	exits(b, cli.ExitOK, append([]string{
		"job", "--apply", "--keep", "--kubeconfig", live.KubeconfigPath(), "--namespace", "default", "--image", tag,
		"--cpu", "500m", "--cpu-limit", fmt.Sprintf("%dm", max(500, 1000*runtime.NumCPU()/4)),
		"--completions", fmt.Sprint(completions), "--report-dir", fmt.Sprintf("report-%d", completions), "--", "run",
	}, args...)...)
	took = time.Since(began)
	client := kubernetes.NewForConfigOrDie(live.RESTConfig())
	job, err := client.BatchV1().Jobs("default").Get(b.Context(), "rehearse", metav1.GetOptions{})
	golden.Must(b, err)
	pods, err := client.CoreV1().Pods("default").List(b.Context(), metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + "=rehearse",
	})
	if err != nil || len(pods.Items) != completions {
		b.Fatalf("%d pods, want %d: %v", len(pods.Items), completions, err)
	}
	for _, pod := range pods.Items {
		for _, container := range pod.Status.ContainerStatuses {
			if container.State.Terminated == nil {
				b.Fatalf("pod %s has not ended: %+v", pod.Name, container.State)
			}
			start = max(start, container.State.Terminated.StartedAt.Sub(job.CreationTimestamp.Time))
		}
	}
	err = client.BatchV1().Jobs("default").Delete(b.Context(), "rehearse", metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
	})
	golden.Must(b, err)
	waitForNoJob(b, client)
	return took, start
}

// waitForNoJob waits until the Job and its pods are gone, so that another one can have its name.
func waitForNoJob(b *testing.B, client kubernetes.Interface) {
	b.Helper()
	err := wait.PollUntilContextTimeout(b.Context(), time.Second, 2*time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, err := client.BatchV1().Jobs("default").Get(ctx, "rehearse", metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return false, err
		})
	if err != nil {
		b.Fatalf("delete the Job: %v", err)
	}
}
