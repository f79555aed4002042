package jobs

import (
	"bytes"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/internal/golden"
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

// A shard without a report is named with the reason from its pod. The logs of the fake cluster have no report.
func TestShardsWithoutAReport(t *testing.T) {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "rehearse", Namespace: "ci", UID: "job"},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type:   batchv1.JobFailed,
			Status: v1.ConditionTrue,
		}}},
	}
	foreign := podOf("2", "foreign", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: 1,
		Reason:   "Error",
	}})
	foreign.OwnerReferences = nil
	client := fake.NewClientset(job, foreign,
		podOf("0", "a", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}),
		podOf("1", "b", v1.ContainerState{Waiting: &v1.ContainerStateWaiting{
			Reason:  "ErrImagePull",
			Message: "no such image",
		}}))
	var out bytes.Buffer
	g := &gathering{client: client, namespace: "ci", job: "rehearse", of: 3, out: &out, dir: t.TempDir(), interval: 1}
	if err := g.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
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

func TestDeletedJob(t *testing.T) {
	g := &gathering{
		client: fake.NewClientset(), namespace: "ci", job: "rehearse", of: 1, out: &bytes.Buffer{},
		interval: 1,
	}
	golden.Error(t, g.wait(t.Context()), "was deleted before it ended")
}
