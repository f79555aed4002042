package main

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// The versions of Kubernetes of the nodes, and in the image. The scenarios of the Job need no other.
const (
	versionOfNodes = "1.35"
	versionInImage = "1.36"
)

// failing is on a cluster of the other scenarios.
const failing = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: fails}
spec:
  cluster: {version: "1.36", systems: [{name: kai, simulated: {variant: webhook}}]}
  steps:
  - name: no rule rejects it
    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: accepted}}
    expect: {rejected: {message: never}}
`

// Three shards on a cluster of three nodes give the verdicts of one machine, although a pod is deleted and a node is
// drained while they run. One scenario fails. The namespace admits only pods of the restricted standard.
func TestSlowLiveJob(t *testing.T) {
	needsKind(t)
	t.Chdir("../..")
	tag, archive := imageForJob(t)
	live := clusterForJob(t)
	loadImage(t, live.Name(), archive)
	scenarios := scenariosForJob(t)

	began := time.Now()
	one := verdicts(t, append([]string{"run"}, scenarios...)...)
	alone := time.Since(began)

	began = time.Now()
	client := kubernetes.NewForConfigOrDie(live.RESTConfig())
	if _, err := client.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var disturbing sync.WaitGroup
	disturbing.Go(func() { disturb(ctx, t, client) })
	all := verdicts(t, append([]string{
		"job", "--apply", "--kubeconfig", live.KubeconfigPath(), "--namespace", "default", "--image", tag, "--cpu", "500m",
		"--completions", "3", "--", "run",
	}, scenarios...)...)
	cancel()
	disturbing.Wait()
	t.Logf("one machine: %v; the Job, with a deleted pod and a drained node: %v", alone, time.Since(began))

	if len(one) < 10 || one["fails"] != reports.Failed {
		t.Errorf("only %d verdicts, or none that failed: %v", len(one), one)
	}
	if !maps.Equal(one, all) {
		t.Errorf("verdicts of one machine:\n%v\nof the Job:\n%v", one, all)
	}
	left, err := client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("%d Jobs are left, %v", len(left.Items), err)
	}
}

// scenariosForJob copies scenarios and one that fails to a new folder and makes it the current one, because a Job gets
// files below the current folder.
func scenariosForJob(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"kai", "porch"} {
		golden.Must(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("scenarios", name))))
	}
	golden.Write(t, filepath.Join(dir, "fails.yaml"), failing)
	t.Chdir(dir)
	return []string{"kai", "porch", "fails.yaml"}
}

// imageForJob makes the image with make image's program, and returns its tag and its archive.
func imageForJob(t testing.TB) (tag, archive string) {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "run", "./internal/release", "image", "--platforms", "linux/"+runtime.GOARCH,
		"--kubernetes", versionInImage, "--output", dir)
	out, err := command.CombinedOutput()
	found := regexp.MustCompile(`(\S+\.tar)  \(docker load -i; (\S+)\)`).FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("make the image: %v\n%s", err, out)
	}
	return string(found[2]), string(found[1])
}

// clusterForJob creates a cluster of a control plane and two workers.
func clusterForJob(t testing.TB) *kind.Cluster {
	t.Helper()
	p, err := kind.Default(releases.Options{}, kind.NodeImages{}, t.Logf)
	golden.Must(t, err)
	state, err := p.Resolve(t.Context(), clusters.State{
		Version: versionOfNodes, Nodes: []clusters.NodeGroup{{Count: ptr.To(2)}},
	})
	golden.Must(t, err)
	golden.Must(t, p.Prepare(t.Context(), state))
	made, err := p.Create(t.Context(), "rehearse-live-job", state)
	golden.Must(t, err)
	t.Cleanup(func() {
		if err := made.Delete(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return made.(*kind.Cluster)
}

// loadImage imports an archive into each node, as kind load does.
func loadImage(t testing.TB, name, archive string) {
	t.Helper()
	nodes, err := cluster.NewProvider(cluster.ProviderWithDocker()).ListInternalNodes(name)
	if err != nil || len(nodes) != 3 {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	for _, node := range nodes {
		f, err := os.Open(archive)
		golden.Must(t, err)
		err = nodeutils.LoadImageArchive(node, f)
		_ = f.Close() // it was only read
		if err != nil {
			t.Fatalf("load the image into %s: %v", node, err)
		}
	}
}

// verdicts runs a command, of which a scenario fails, and returns the results of all scenarios and steps in its report.
func verdicts(t *testing.T, args ...string) map[string]reports.Status {
	t.Helper()
	dir := t.TempDir()
	args = append([]string{args[0], "--report-dir", dir}, args[1:]...)
	t.Log(exits(t, cli.ExitFailed, args...))
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	golden.Must(t, err)
	report, err := reports.Read(data)
	golden.Must(t, err)
	all := map[string]reports.Status{}
	for _, track := range report.Tracks {
		for _, scenario := range track.Scenarios {
			all[scenario.Name] = scenario.Status
			for _, step := range scenario.Steps {
				all[scenario.Name+": "+step.Name] = step.Status
			}
		}
	}
	return all
}

// disturb deletes a running pod of the Job, waits for its successor, and drains the successor's node.
func disturb(ctx context.Context, t *testing.T, client kubernetes.Interface) {
	first, err := runningPod(ctx, client, "")
	if err != nil {
		t.Errorf("no pod of the Job ran: %v", err)
		return
	}
	if err := client.CoreV1().Pods("default").Delete(ctx, first.Name, metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete a pod of the Job: %v", err)
		return
	}
	second, err := runningPod(ctx, client, first.UID)
	if err != nil {
		t.Errorf("no pod replaced %s: %v", first.Name, err)
		return
	}
	if err := drain(ctx, client, second.Spec.NodeName); err != nil {
		t.Errorf("drain %s: %v", second.Spec.NodeName, err)
	}
}

// runningPod waits for a running pod of the Job's first shard, other than one.
func runningPod(ctx context.Context, client kubernetes.Interface, other types.UID) (*v1.Pod, error) {
	var found *v1.Pod
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{
			LabelSelector: batchv1.JobNameLabel + "=rehearse," + batchv1.JobCompletionIndexAnnotation + "=0",
		})
		if err != nil {
			return false, err
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Status.Phase == v1.PodRunning && pod.UID != other && pod.DeletionTimestamp == nil {
				found = pod
			}
		}
		return found != nil, nil
	})
	return found, err
}

// drain cordons a node and evicts the Job's pods from it, as kubectl drain does.
func drain(ctx context.Context, client kubernetes.Interface, node string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`),
		metav1.PatchOptions{})
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + "=rehearse", FieldSelector: "spec.nodeName=" + node,
	})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		err := client.CoreV1().Pods("default").EvictV1(ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
