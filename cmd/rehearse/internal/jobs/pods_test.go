package jobs

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A Job whose pods cannot run does not keep rehearse waiting, and each shard says why. Pods that run prevent that.
func TestPodsThatCannotRun(t *testing.T) {
	waiting := func(reason, message string) v1.ContainerState {
		return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	lost := podOf("4", "lost", v1.ContainerState{Running: &v1.ContainerStateRunning{}})
	lost.Finalizers = []string{"example.com/kept"} // the fake cluster takes no deleted object without
	lost.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(-time.Hour)}
	lost.Spec.NodeName = "node-7"
	nowhere := podOf("3", "d", v1.ContainerState{})
	nowhere.Status = v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{
		Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: "0/3 nodes are available",
	}}}
	pods := []*v1.Pod{
		podOf("0", "a", waiting("ImagePullBackOff", "Back-off pulling image")),
		podOf("1", "b", waiting("InvalidImageName", "couldn't parse image name")),
		podOf("2", "c", waiting("CreateContainerConfigError", "container has runAsNonRoot")),
		nowhere, lost,
	}
	job := failedJob()
	job.Status.Conditions = nil
	client := fake.NewClientset(job)
	for _, pod := range pods {
		if pod != nowhere {
			pod.Status.Phase = v1.PodPending
		}
		golden.Must(t, client.Tracker().Add(pod))
	}
	var out bytes.Buffer
	g := &gathering{
		client: client, namespace: "ci", job: "rehearse", uid: "job", of: len(pods), out: &out, dir: t.TempDir(), interval: 1, timeout: 1,
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it must not go on forever
	defer cancel()
	golden.Error(t, g.wait(ctx), "no pod of the Job rehearse in namespace ci has run for 1ns (--timeout)")
	reasons := []string{
		"pod rehearse-0-a: ImagePullBackOff: Back-off pulling image",
		"pod rehearse-1-b: InvalidImageName: couldn't parse image name",
		"pod rehearse-2-c: CreateContainerConfigError: container has runAsNonRoot",
		"pod rehearse-3-d: Unschedulable: 0/3 nodes are available",
		"pod rehearse-4-lost: node node-7 does not confirm that the pod has ended; if the node is lost, kubectl delete node",
	}
	_, err := g.folders()
	golden.Error(t, err, reasons...)
	for i, reason := range reasons {
		if strings.Count(out.String(), fmt.Sprintf("[%d/5] %s", i+1, reason)) != 1 {
			t.Errorf("%s is not shown once: %s", reason, out.String())
		}
	}
}

// Only a pod that runs keeps a Job from being given up.
func TestRunningPods(t *testing.T) {
	running := v1.ContainerState{Running: &v1.ContainerStateRunning{}}
	fetching := podOf("0", "a", v1.ContainerState{})
	fetching.Status.InitContainerStatuses = []v1.ContainerStatus{{State: running}}
	deleted := podOf("0", "b", running)
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(time.Hour)}
	for name, c := range map[string]struct {
		pod           *v1.Pod
		running, lost bool
	}{
		"it runs":          {podOf("0", "a", running), true, false},
		"it fetches files": {fetching, true, false},
		"it waits":         {podOf("0", "a", v1.ContainerState{}), false, false},
		"it is deleted":    {deleted, false, false},
	} {
		if isRunning(c.pod) != c.running || isLost(c.pod) != c.lost {
			t.Errorf("%s: running %v, lost %v", name, isRunning(c.pod), isLost(c.pod))
		}
	}
}

// Two pods of a shard, a failed one and a waiting one, are each shown once.
func TestNotesOfTwoPods(t *testing.T) {
	var out bytes.Buffer
	g := &gathering{of: 1, out: &out, trouble: map[int]string{}, noted: map[string]bool{}}
	first := podOf("0", "a", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}})
	second := podOf("0", "b", v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no"}})
	for range 3 {
		g.note(0, first.Name, whyNot(first))
		g.note(0, second.Name, whyNot(second))
	}
	want := "[1/1] pod rehearse-0-a: Error (exit code 3)\n[1/1] pod rehearse-0-b: ErrImagePull: no\n"
	if out.String() != want {
		t.Errorf("it shows %s, want %s", out.String(), want)
	}
	second.Status.ContainerStatuses[0].State = v1.ContainerState{Running: &v1.ContainerStateRunning{}}
	if g.note(0, second.Name, whyNot(second)); g.trouble[0] != "" {
		t.Errorf("a pod that runs has the trouble %q", g.trouble[0])
	}
}
