package history_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

func managedPod(manager string) map[string]any {
	object := pod("x", "web", "of="+manager)
	object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": manager}}
	return object
}

// Each change has the managers of its own moment, even if others have written since.
func TestManagersOfAChange(t *testing.T) {
	server := apitest.New(t)
	stream := newRecorder(t, server).Stream(pods)
	for _, manager := range []string{"first", "second", "third"} {
		server.Put(pods.Resource, managedPod(manager))
	}
	seen := await(t, stream, func(view history.View, _ []history.Change) bool {
		return view.Synced && len(view.Objects) == 1 && view.Objects[0].GetLabels()["of"] == "third"
	})
	for _, change := range seen {
		managers, err := stream.Managers(bounded(t), change)
		if want := change.Object.GetLabels()["of"]; err != nil || len(managers) != 1 || managers[0].Manager != want {
			t.Errorf("the change that %s made has %+v, %v", want, managers, err)
		}
	}
}

func TestManagersThatAreNotKnown(t *testing.T) {
	type kit struct {
		server   *apitest.Server
		recorder *history.Recorder
		change   *history.Change
	}
	for name, test := range map[string]struct {
		spoil func(kit)
		want  string
	}{
		"the storage was compacted": {
			func(k kit) {
				k.server.Reject(func(apitest.Request) *metav1.Status { status := apitest.TooOld(); return &status })
			}, history.ErrForgotten.Error(),
		},
		"the storage was replaced": {
			func(k kit) {
				if err := k.recorder.Pause(t.Context()); err != nil {
					t.Error(err)
				}
				k.recorder.Resume()
			}, history.ErrForgotten.Error(),
		},
		"another object": {func(k kit) { k.change.UID = "another" }, "answers with another state"},
		"no number":      {func(k kit) { k.change.ResourceVersion = "x" }, `"x" is not the number of a revision`},
		"the API server does not answer": {
			func(k kit) {
				k.server.Reject(func(apitest.Request) *metav1.Status {
					return apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)
				})
			}, "reading web of pods as it was: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			server.Put(pods.Resource, managedPod("first"))
			recorder := newRecorder(t, server)
			stream := recorder.Stream(pods)
			change := await(t, stream, changes(1))[0]
			test.spoil(kit{server, recorder, &change})
			managers, err := stream.Managers(bounded(t), change)
			if err == nil || !strings.Contains(err.Error(), test.want) || managers != nil {
				t.Errorf("%+v, %v; want %q", managers, err, test.want)
			}
			if forgotten := test.want == history.ErrForgotten.Error(); forgotten != errors.Is(err, history.ErrForgotten) {
				t.Errorf("%v is known as forgotten: %t", err, !forgotten)
			}
		})
	}
}
