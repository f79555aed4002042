package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// podOf returns a failed pod of the job, with the state of its container.
func podOf(index, uid string, state v1.ContainerState) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "rehearse-" + index + "-" + uid, Namespace: "ci", UID: types.UID(uid),
			Labels: map[string]string{batchv1.JobNameLabel: "rehearse", batchv1.JobCompletionIndexAnnotation: index},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "rehearse", UID: "job", Controller: ptr.To(true),
			}},
		},
		Status: v1.PodStatus{Phase: v1.PodFailed, ContainerStatuses: []v1.ContainerStatus{{State: state}}},
	}
}

// runningPodOf returns a pod of the job that runs.
func runningPodOf(index, uid string) *v1.Pod {
	pod := podOf(index, uid, v1.ContainerState{Running: &v1.ContainerStateRunning{}})
	pod.Status.Phase = v1.PodRunning
	return pod
}

// failedJob returns a Job that has ended.
func failedJob() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "rehearse", Namespace: "ci", UID: "job"},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type:   batchv1.JobFailed,
			Status: v1.ConditionTrue,
		}}},
	}
}

// A shard without a report is named with the reason from its pod. The logs of the fake cluster have no report.
func TestShardsWithoutAReport(t *testing.T) {
	foreign := podOf("2", "foreign", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: 1,
		Reason:   "Error",
	}})
	foreign.OwnerReferences = nil
	client := fake.NewClientset(failedJob(), foreign,
		podOf("0", "a", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}),
		podOf("1", "b", v1.ContainerState{Waiting: &v1.ContainerStateWaiting{
			Reason:  "ErrImagePull",
			Message: "no such image",
		}}))
	var out bytes.Buffer
	g := &gathering{client: client, namespace: "ci", job: "rehearse", uid: "job", of: 3, out: &out, dir: t.TempDir(), interval: 1}
	golden.Must(t, g.wait(t.Context()))
	folders, err := g.folders()
	if len(folders) > 0 {
		t.Errorf("got %s", folders)
	}
	golden.Error(t, err, "shard 1/3 wrote no report: pod rehearse-0-a: OOMKilled (exit code 137)",
		"shard 2/3 wrote no report: pod rehearse-1-b: ErrImagePull: no such image",
		"shard 3/3 wrote no report: none of its pods' logs contains it")
	if !strings.Contains(out.String(), "[1/3] fake logs") {
		t.Errorf("the log of the pod that started is not shown: %s", out.String())
	}
}

// Another Job in the place of ours is somebody else's.
func TestDeletedJob(t *testing.T) {
	another := failedJob()
	another.UID = "another"
	for name, client := range map[string]*fake.Clientset{
		"deleted": fake.NewClientset(), "replaced": fake.NewClientset(another),
	} {
		t.Run(name, func(t *testing.T) {
			g := &gathering{
				client: client, namespace: "ci", job: "rehearse", uid: "job", of: 1, out: &bytes.Buffer{}, interval: 1,
			}
			golden.Error(t, g.wait(t.Context()), "was deleted before it ended")
		})
	}
}

// logOf returns the log of a pod with the report of an attempt that ended at some time, in seconds.
func logOf(t *testing.T, pod string, finished int64) string {
	t.Helper()
	dir := t.TempDir()
	end := time.Unix(finished, 0)
	if finished == 0 { // it did not end
		end = time.Time{}
	}
	golden.Write(t, filepath.Join(dir, "run.json"), fmt.Sprintf(`{"finished": %q}`, end.UTC().Format(time.RFC3339)))
	var log bytes.Buffer
	if _, err := inlog.Write(&log, pod, dir, "run.json", nil, inlog.Limit); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// A log that cannot be read is retried while that can help. Then it is the reason why the shard has no report.
func TestLogsThatCannotBeRead(t *testing.T) {
	noNode := errors.New("dial tcp 10.0.0.7:10250: no route to host")
	forbidden := apierrors.NewForbidden(v1.Resource("pods/log"), "rehearse-0-a", errors.New("not allowed"))
	for name, c := range map[string]struct {
		err      error
		times    int // how often it occurs
		phase    v1.PodPhase
		patience time.Duration
		want     string
	}{
		"forbidden":              {forbidden, 1, v1.PodRunning, time.Hour, `pods/log "rehearse-0-a" is forbidden`},
		"the pod has ended":      {noNode, 9, v1.PodFailed, 0, "no route to host"},
		"the Job has ended":      {noNode, math.MaxInt, v1.PodRunning, 0, "no route to host"}, // it must not end before the Job
		"it can be read in time": {noNode, 9, v1.PodFailed, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf("0", "a", v1.ContainerState{Running: &v1.ContainerStateRunning{}})
			pod.Status.Phase = c.phase
			client := fake.NewClientset(failedJob(), pod)
			client.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if action.GetSubresource() != "log" {
					return false, nil, nil
				}
				if c.times--; c.times >= 0 {
					return true, nil, c.err
				}
				return true, &runtime.Unknown{Raw: []byte(logOf(t, "a", 1))}, nil
			})
			var out bytes.Buffer
			g := &gathering{
				client: client, namespace: "ci", job: "rehearse", uid: "job", of: 1, out: &out, dir: t.TempDir(), interval: 1,
				patience: c.patience,
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it must not go on forever
			defer cancel()
			golden.Must(t, g.wait(ctx))
			folders, err := g.folders()
			if c.want == "" {
				if err != nil || len(folders) != 1 {
					t.Errorf("got %s, %v", folders, err)
				}
				return
			}
			golden.Error(t, err, "shard 1/1 wrote no report: pod rehearse-0-a: cannot read the log: ", c.want)
			if !strings.Contains(out.String(), "[1/1] pod rehearse-0-a: cannot read the log: ") {
				t.Errorf("it is not shown: %s", out.String())
			}
		})
	}
}

// A pod may seem to run forever although its Job has ended and its log can be read: it does not keep rehearse waiting.
func TestPodsThatOutlastTheirJob(t *testing.T) {
	client := fake.NewClientset(failedJob(), runningPodOf("0", "a"))
	var out bytes.Buffer
	g := &gathering{
		client: client, namespace: "ci", job: "rehearse", uid: "job", of: 1, out: &out, dir: t.TempDir(), interval: 1, linger: 1,
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it must not go on forever
	defer cancel()
	golden.Must(t, g.wait(ctx))
	_, err := g.folders()
	const why = "pod rehearse-0-a: the Job has ended, and the pod has not; its log is not read further"
	golden.Error(t, err, "shard 1/1 wrote no report: "+why)
	if !strings.Contains(out.String(), "[1/1] "+why) {
		t.Errorf("it is not shown: %s", out.String())
	}
}

// The log of a pod that ends soon after its Job is read to its end.
func TestPodsThatEndAfterTheirJob(t *testing.T) {
	client := fake.NewClientset(failedJob(), runningPodOf("0", "a"))
	reads := 0
	client.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "log" {
			if reads > 0 {
				return true, podOf("0", "a", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{}}), nil
			}
			return false, nil, nil
		}
		if reads++; reads == 1 {
			return true, &runtime.Unknown{Raw: []byte(logOf(t, "a", 0))}, nil
		}
		return true, &runtime.Unknown{Raw: []byte(logOf(t, "a", 0) + logOf(t, "a", 1))}, nil
	})
	g := &gathering{
		client: client, namespace: "ci", job: "rehearse", uid: "job", of: 1, out: &bytes.Buffer{}, dir: t.TempDir(), interval: 1,
		linger: time.Hour,
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it must not go on forever
	defer cancel()
	golden.Must(t, g.wait(ctx))
	if end := g.reports[0].head.Finished; end.Unix() != 1 {
		t.Errorf("the report counts of the attempt that ended %v, want that of second 1", end)
	}
}

// A pod that died leaves its planned run, which counts only if there is no result. A log that is read again changes
// nothing.
func TestPlannedRunsOfPods(t *testing.T) {
	planned, result := logOf(t, "a", 0), logOf(t, "a", 1)
	for name, c := range map[string]struct {
		log  string
		want string
	}{
		"it died":                    {planned, "0001-01-01T00:00:00Z"},
		"it ended":                   {planned + result, "1970-01-01T00:00:01Z"},
		"read again, and cut":        {planned + result + planned, "1970-01-01T00:00:01Z"},
		"died while it reported":     {planned + result[:len(result)/2] + "\n", "0001-01-01T00:00:00Z"},
		"died, and read again later": {planned + result[:len(result)/2] + "\n" + planned + result, "1970-01-01T00:00:01Z"},
	} {
		g := &gathering{of: 1, out: &bytes.Buffer{}, dir: t.TempDir(), reports: map[int]attempt{}}
		var reader inlog.Reader
		for line := range strings.Lines(c.log) {
			g.line(0, "pod", line, &reader, true)
		}
		folders, err := g.folders()
		if err != nil || len(folders) != 1 {
			t.Errorf("%s: %s, %v", name, folders, err)
			continue
		}
		if text := golden.Read(t, filepath.Join(folders[0], "run.json")); !strings.Contains(text, c.want) {
			t.Errorf("%s: the report is %s, want %s", name, text, c.want)
		}
	}
}

// A reason is shown once, although each look at the pods finds those of all attempts.
func TestReasonsAreShownOnce(t *testing.T) {
	var out bytes.Buffer
	g := &gathering{of: 1, out: &out, trouble: map[int]string{}, noted: map[string]bool{}}
	ended := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}
	for range 3 {
		a := podOf("0", "a", ended)
		g.note(0, a.Name, whyNot(a))
		b := podOf("0", "b", ended)
		g.note(0, b.Name, whyNot(b))
	}
	if n := strings.Count(out.String(), "OOMKilled"); n != 2 {
		t.Errorf("%d reasons are shown, want one for each pod: %s", n, out.String())
	}
}

// Of several attempts at a shard, the one that ended last counts, whichever log is read last.
func TestTheLaterAttemptCounts(t *testing.T) {
	for _, order := range [][]int64{{1, 2}, {2, 1}} {
		g := &gathering{of: 1, out: &bytes.Buffer{}, dir: t.TempDir(), reports: map[int]attempt{}}
		for _, finished := range order {
			var reader inlog.Reader
			for line := range strings.Lines(logOf(t, "a", finished)) {
				g.line(0, fmt.Sprint("pod-", finished), line, &reader, true)
			}
		}
		folders, err := g.folders()
		if err != nil || len(folders) != 1 || filepath.Base(folders[0]) != "pod-2" {
			t.Errorf("read in the order %v: %s, %v", order, folders, err)
		}
	}
}
