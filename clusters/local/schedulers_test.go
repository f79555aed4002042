package local_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const batch = clusters.Component("kube-scheduler/batch")

func withBatch(version string) clusters.State {
	one := 1
	return clusters.State{
		Version: version, Nodes: []clusters.NodeGroup{{Count: &one}},
		Schedulers: []clusters.NamedScheduler{{Name: "batch"}},
		// A gate in which the two schedulers differ; it is off by default in every version.
		Components: map[clusters.Component]clusters.ComponentState{batch: {FeatureGates: map[string]bool{"LocalStorageCapacityIsolationFSQuotaMonitoring": true}, Flags: map[string]string{"v": "3"}}},
	}
}

// placed creates a pod and returns the scheduler that reports its placement.
func placed(t *testing.T, c clusters.Cluster, name, scheduler string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{SchedulerName: scheduler, Containers: []corev1.Container{{Name: "main", Image: "main"}}},
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	watch, err := client.EventsV1().Events("default").Watch(ctx,
		metav1.ListOptions{FieldSelector: fields.Set{"regarding.name": name, "reason": "Scheduled"}.String()})
	golden.Must(t, err)
	defer watch.Stop()
	event, open := <-watch.ResultChan()
	if !open {
		t.Fatalf("%s was not placed", name)
	}
	scheduled, ok := event.Object.(*eventsv1.Event)
	if !ok {
		t.Fatalf("%s: %v", name, event.Object)
	}
	return scheduled.ReportingController
}

func TestSchedulersSideBySide(t *testing.T) {
	p := clustertest.Local(t)
	c := clustertest.Create(t, p, "beside", withBatch("1.35"))
	if got := placed(t, c, "first", "batch"); got != "batch" {
		t.Errorf("placed by %q", got)
	}
	if got := placed(t, c, "second", ""); got != "default-scheduler" {
		t.Errorf("placed by %q", got)
	}
	ofBatch, ofOther := metrics(t, c, batch), metrics(t, c, clusters.Scheduler)
	gateOn := `kubernetes_feature_enabled{name="LocalStorageCapacityIsolationFSQuotaMonitoring",stage="BETA"} 1`
	if !strings.Contains(ofBatch, gateOn) || strings.Contains(ofOther, gateOn) {
		t.Errorf("the gate is on for batch: %t, for the other: %t", strings.Contains(ofBatch, gateOn),
			strings.Contains(ofOther, gateOn))
	}
	logs := c.LogFiles()[batch]
	if len(logs) != 1 || filepath.Base(logs[0]) != "kube-scheduler-batch-1.log" {
		t.Errorf("its logs are %v", logs)
	}
	dir := t.TempDir()
	if err := c.Collect(t.Context(), dir); err != nil {
		t.Error(err)
	}
	for _, file := range []string{"kube-scheduler-batch-1.log", "kube-scheduler-batch.yaml", "kube-scheduler.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Errorf("not collected: %v", err)
		}
	}
	schedulerIsKilledAndRestarted(t, c)
	snapshotWithSchedulers(t, c)
	schedulerGoes(t, c)
}

func schedulerIsKilledAndRestarted(t *testing.T, c *local.Cluster) {
	t.Helper()
	other := c.PIDs()[string(clusters.Scheduler)]
	golden.Must(t, c.Kill(t.Context(), batch))
	if _, err := c.Metrics(t.Context(), batch); err == nil {
		t.Error("it answers after it was killed")
	}
	golden.Must(t, c.Restart(t.Context(), batch))
	if c.PIDs()[string(clusters.Scheduler)] != other {
		t.Error("the other scheduler was restarted")
	}
	if got := placed(t, c, "third", "batch"); got != "batch" {
		t.Errorf("placed by %q after a restart", got)
	}
	if len(c.LogFiles()[batch]) != 2 {
		t.Errorf("want a log for each start, got %v", c.LogFiles()[batch])
	}
	golden.Error(t, c.Kill(t.Context(), "kube-scheduler/other"), "has no component kube-scheduler/other")
}

func snapshotWithSchedulers(t *testing.T, c *local.Cluster) {
	t.Helper()
	before := c.PIDs()[string(batch)]
	golden.Must(t, c.Snapshot(t.Context(), "one"))
	golden.Must(t, c.Restore(t.Context(), "one"))
	if after := c.PIDs()[string(batch)]; after == before || after == 0 {
		t.Errorf("pid %d before the restore, %d after: what has read data from after the snapshot must restart", before, after)
	}
	if got := placed(t, c, "fourth", "batch"); got != "batch" {
		t.Errorf("placed by %q after a restore", got)
	}
}

// schedulerGoes removes the scheduler batch and gives its name to the remaining scheduler.
func schedulerGoes(t *testing.T, c *local.Cluster) {
	t.Helper()
	pid, address := c.PIDs()[string(batch)], listensAt(t, c)
	next := c.State().With(clusters.Change{
		Schedulers: []clusters.NamedSchedulerChange{{
			NamedScheduler: clusters.NamedScheduler{Name: "batch"},
			Remove:         true,
		}},
		SchedulerProfiles: []map[string]any{{"schedulerName": "default-scheduler"}, {"schedulerName": "batch"}},
	})
	golden.Must(t, c.Converge(t.Context(), next))
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its process %d is still there: %v", pid, err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Errorf("its port is still in use: %v", err)
	} else {
		_ = listener.Close()
	}
	_, err = c.Metrics(t.Context(), batch)
	golden.Error(t, err, "has no component kube-scheduler/batch")
	if got := placed(t, c, "fifth", "batch"); got != "batch" {
		t.Errorf("placed by %q, want the profile of the scheduler that stayed", got)
	}
	select {
	case err := <-c.Died():
		t.Errorf("what was ended on purpose is reported: %v", err)
	default:
	}
}

func TestDeathOfAFurtherScheduler(t *testing.T) {
	c := clustertest.Create(t, clustertest.Local(t), "beside-dies", withBatch("1.36"))
	golden.Must(t, syscall.Kill(c.PIDs()[string(batch)], syscall.SIGKILL))
	if err := <-c.Died(); !strings.Contains(err.Error(), "kube-scheduler/batch") {
		t.Errorf("got %v", err)
	}
}

func TestLastingClusterKnowsItsSchedulers(t *testing.T) {
	first := clustertest.Local(t)
	first.Lasting = true
	c := clustertest.Create(t, first, "beside-lasts", withBatch("1.34"))
	c.Release()
	second := clustertest.Local(t)
	second.Root, second.Lasting = first.Root, true
	opened, err := second.Open(t.Context(), "beside-lasts")
	golden.Must(t, err)
	again := opened.(*local.Cluster)
	if info, err := second.Describe(t.Context(), "beside-lasts"); err != nil ||
		!strings.Contains(strings.Join(info.Running, " "), string(batch)) ||
		!strings.Contains(info.State.String(), "scheduler/batch") {
		t.Errorf("described as %+v, %v", info, err)
	}
	pid := again.PIDs()[string(batch)]
	next := again.State().With(clusters.Change{Schedulers: []clusters.NamedSchedulerChange{
		{
			NamedScheduler: clusters.NamedScheduler{Name: "batch"},
			Remove:         true,
		}, {NamedScheduler: clusters.NamedScheduler{Name: "other"}},
	}})
	golden.Must(t, again.Converge(t.Context(), next))
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its process %d is still there: %v", pid, err)
	}
	if got := placed(t, again, "pod", "other"); got != "other" {
		t.Errorf("placed by %q", got)
	}
	golden.Must(t, again.Delete(t.Context()))
}

func TestCheckSchedulersBeforeAnythingStarts(t *testing.T) {
	p := clustertest.Local(t)
	for name, test := range map[string]struct {
		state clusters.State
		want  []string
	}{
		"fine": {withBatch("1.35"), nil},
		"two for one name": {
			clusters.State{
				Version:    "1.35",
				Schedulers: []clusters.NamedScheduler{{Name: "default-scheduler"}},
			},
			[]string{`answer for schedulerName "default-scheduler"`},
		},
		"an unknown field": {
			clusters.State{
				Version: "1.35",
				Schedulers: []clusters.NamedScheduler{
					{Name: "a"},
					{
						Name: "b",
						Profiles: []map[string]any{{
							"schedulerName": "b",
							"plugins":       map[string]any{"placementScore": map[string]any{}},
						}},
					},
				},
			},
			[]string{"kube-scheduler of Kubernetes 1.35", `unknown field "schedulers[1].profiles[0].plugins.placementScore"`},
		},
		"an unknown gate": {
			clusters.State{
				Version: "1.35", Schedulers: []clusters.NamedScheduler{{Name: "batch"}},
				Components: map[clusters.Component]clusters.ComponentState{batch: {FeatureGates: map[string]bool{"NoSuchGate": true}}},
			},
			[]string{"NoSuchGate"},
		},
		"gates of nobody": {
			clusters.State{
				Version:    "1.35",
				Components: map[clusters.Component]clusters.ComponentState{batch: {FeatureGates: map[string]bool{gate: true}}},
			},
			[]string{"component kube-scheduler/batch: no such scheduler"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := p.Resolve(t.Context(), test.state)
			golden.Must(t, err)
			golden.Error(t, p.Check(t.Context(), []clusters.State{state}), test.want...)
		})
	}
}

func metrics(t *testing.T, c clusters.MetricsSource, component clusters.Component) string {
	t.Helper()
	data, err := c.Metrics(t.Context(), component)
	golden.Must(t, err)
	return string(data)
}

// listensAt returns the address of the scheduler batch, from its command line.
func listensAt(t *testing.T, c *local.Cluster) string {
	t.Helper()
	line := golden.Read(t, filepath.Join("/proc", strconv.Itoa(c.PIDs()[string(batch)]), "cmdline"))
	_, rest, found := strings.Cut(line, "--secure-port=")
	port, _, _ := strings.Cut(rest, "\x00")
	if !found {
		t.Fatalf("no port in %q", line)
	}
	return net.JoinHostPort("127.0.0.1", port)
}
