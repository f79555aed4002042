package history_test

import (
	"context"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A restored storage counts on from the snapshot, so a resourceVersion may mean another state than before. The
// recorder does not confuse the two.
func TestTheSameVersionAgain(t *testing.T) {
	server := apitest.New(t)
	server.Put(pods.Resource, pod("x", "web", "n=0"))
	restore := server.Snapshot()
	recorder := newRecorder(t, server)
	stream := recorder.Stream(pods)
	await(t, stream, changes(1))
	server.Put(pods.Resource, pod("x", "web", "n=1"))
	await(t, stream, changes(2))
	golden.Must(t, recorder.Pause(bounded(t)))
	if err := recorder.Pause(bounded(t)); err == nil {
		t.Error("paused twice")
	}
	server.AwaitWatches(0)
	restore()
	server.Put(pods.Resource, pod("x", "web", "n=2"))
	late := recorder.Stream(nodes)
	if server.Requests("watch", "") != 1 {
		t.Error("there was a watch during the pause")
	}
	looked, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stream.CatchUp(looked, history.Scope{}); err == nil {
		t.Error("caught up during the pause")
	}
	recorder.Resume()
	seen := await(t, stream, changes(3))
	if last := seen[2]; last.ResourceVersion != seen[1].ResourceVersion || last.Object.GetLabels()["n"] != "2" ||
		last.Before.GetLabels()["n"] != "1" {
		t.Errorf("%s: %v after %v", last.ResourceVersion, last.Object, last.Before)
	}
	server.Put(nodes.Resource, node("a"))
	await(t, late, changes(1))
	server.Put(pods.Resource, pod("x", "web", "n=3"))
	await(t, stream, changes(4))
	gaps := stream.Gaps()
	if len(gaps) != 1 || !gaps[0].Relisted || gaps[0].To.IsZero() {
		t.Errorf("gaps %+v, want the pause", gaps)
	}
}
