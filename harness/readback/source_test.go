package readback

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Only a restore after the load began makes it impossible to wait for what the load wrote.
func TestARestoreBeforeTheLoad(t *testing.T) {
	server := apitest.New(t)
	recorder, err := history.New(server.Config())
	golden.Must(t, err)
	t.Cleanup(recorder.Close)
	stream := recorder.Stream(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	caughtUp := func() {
		t.Helper()
		golden.Must(t, stream.CatchUp(t.Context(), history.Scope{}))
		server.AwaitWatches(1)
	}
	caughtUp()
	restore := server.Snapshot()
	server.Put("configmaps", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "x"},
	})
	caughtUp()
	restore()
	caughtUp()
	gaps := stream.Gaps()
	if len(gaps) != 1 || !gaps[0].WentBack {
		t.Fatalf("gaps %+v, want one in which the storage went back", gaps)
	}
	for name, test := range map[string]struct {
		began time.Time
		want  bool
	}{
		"before the restore": {gaps[0].From.Add(-1), true},
		"during the restore": {gaps[0].To, true},
		"after the restore":  {gaps[0].To.Add(1), false},
	} {
		if got := (Source{Stream: stream, Began: test.began}).wentBack(); got != test.want {
			t.Errorf("the load began %s: went back %v, want %v", name, got, test.want)
		}
	}
}
