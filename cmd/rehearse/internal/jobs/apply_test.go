package jobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// jobOf returns the settings of a Job for so many shards.
func jobOf(completions int32) settings {
	return settings{
		name: "rehearse", namespace: "ci", image: "i", completions: completions, parallelism: 1, cpu: "1", memory: "1Gi",
	}
}

// The Job owns its ConfigMap. Nothing asks for the permission to block its deletion.
func TestOwnerOfTheFiles(t *testing.T) {
	client := fake.NewClientset()
	a := &application{settings: jobOf(1)}
	a.files = []byte("x")
	if _, err := a.create(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	files, err := client.CoreV1().ConfigMaps("ci").Get(t.Context(), "rehearse", metav1.GetOptions{})
	if err != nil || len(files.OwnerReferences) != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if owner := files.OwnerReferences[0]; owner.Name != "rehearse" || !ptr.Deref(owner.Controller, false) ||
		owner.BlockOwnerDeletion != nil {
		t.Errorf("the owner is %+v", owner)
	}
}

// A Job whose creation was not answered may have been stored: then it is deleted, but never somebody else's.
func TestCreationWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		failure          error
		stored, stranger bool
		interrupted      bool
		deleted          bool
		wrong            bool // the input
	}{
		"stored":                  {failure: io.ErrUnexpectedEOF, stored: true, deleted: true},
		"stored, and interrupted": {failure: context.Canceled, stored: true, interrupted: true, deleted: true},
		"stored, timed out":       {failure: apierrors.NewTimeoutError("no answer", 1), stored: true, deleted: true},
		"not stored":              {failure: io.ErrUnexpectedEOF},
		"somebody else's":         {failure: io.ErrUnexpectedEOF, stranger: true},
		"the server failed":       {failure: apierrors.NewInternalError(errors.New("no answer of a webhook"))},
		"the server is busy":      {failure: apierrors.NewTooManyRequests("later", 1)},
		"rejected": {
			failure: apierrors.NewForbidden(batchv1.Resource("jobs"), "rehearse", nil), stored: true, wrong: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if c.stranger {
				golden.Must(t, client.Tracker().Add(failedJob()))
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
				job := action.(clienttesting.CreateAction).GetObject().(*batchv1.Job).DeepCopy()
				job.UID = "ours"
				if c.stored {
					golden.Must(t, client.Tracker().Add(job))
				}
				if c.interrupted {
					cancel()
				}
				return true, nil, c.failure
			})
			failed := false
			client.PrependReactor("get", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				failed = !failed
				return failed, nil, errors.New("no route to host") // the first time
			})
			var deleted []string
			client.PrependReactor("delete", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
				options := action.(clienttesting.DeleteActionImpl).DeleteOptions
				deleted = append(deleted, string(*options.Preconditions.UID))
				return false, nil, nil
			})
			a := &application{settings: jobOf(1)}
			_, err := a.create(ctx, client)
			if !errors.Is(err, c.failure) {
				t.Errorf("got %v, want %v", err, c.failure)
			}
			var exit *cli.ExitError
			if broken := errors.As(err, &exit) && exit.Code == cli.ExitBroken; broken == c.wrong {
				t.Errorf("the input is wrong: %t, want %t: %v", !broken, c.wrong, err)
			}
			if (len(deleted) == 1 && deleted[0] == "ours") != c.deleted {
				t.Errorf("deleted %q, want it deleted: %t", deleted, c.deleted)
			}
		})
	}
}

// A Job that another one has replaced counts as deleted.
func TestDeletionOfAReplacedJob(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("delete", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if uid := action.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions.UID; *uid != "ours" {
			t.Errorf("it deletes the Job with the UID %s", *uid)
		}
		return true, nil, apierrors.NewConflict(batchv1.Resource("jobs"), "rehearse", errors.New("the UID differs"))
	})
	golden.Must(t, (&application{settings: jobOf(1)}).delete(t.Context(), client, "ours"))
}

// The folder with the shards' reports stays only if some shards, but not all, have a report: then it is named.
func TestFolderOfTheShards(t *testing.T) {
	ended := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}
	for name, c := range map[string]struct{ reports, kept int }{
		"no shard has a report": {0, 0}, "one has": {1, 1}, "all have": {2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			client := fake.NewClientset(podOf("0", "a", ended), podOf("1", "b", ended))
			client.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, failedJob(), client.Tracker().Add(failedJob())
			})
			client.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if action.GetSubresource() != "log" || c.reports == 0 {
					return false, nil, nil
				}
				c.reports--
				return true, &runtime.Unknown{Raw: []byte(logOf(t, "a", 1))}, nil
			})
			merged := func(_ *cobra.Command, folders []string, _ string) error {
				for _, folder := range folders {
					golden.Read(t, filepath.Join(folder, "run.json"))
				}
				return nil
			}
			var out bytes.Buffer
			command := &cobra.Command{}
			command.SetOut(&out)
			command.SetContext(t.Context())
			err := (&application{settings: jobOf(2), merge: merged}).runOn(command, client)
			left, globErr := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
			golden.Must(t, globErr)
			if len(left) != c.kept {
				t.Errorf("%q are left: %v", left, err)
			}
			if c.kept == 0 {
				return
			}
			golden.Error(t, err, "the reports of the other shards are in "+left[0]+"; ")
			reports, globErr := filepath.Glob(filepath.Join(left[0], "*", "*", "*", "run.json"))
			golden.Must(t, globErr)
			if len(reports) != 1 {
				t.Errorf("the folder has %q", reports)
			}
		})
	}
}
