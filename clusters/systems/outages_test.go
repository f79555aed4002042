package systems

import (
	"fmt"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// A program that lived through five transitions of Kubernetes is restarted. A change of systems alone does not count.
func TestAProgramIsRestartedBeforeItsWatchesAreLate(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	converge(t, s, sleeper("lws"))
	first := s.system("lws").process
	for i := range mostOutages {
		if s.system("lws").process != first {
			t.Fatalf("restarted after %d transitions", i)
		}
		converge(t, s, sleeper("lws"), sleeper("other"))
		c.state = clusters.State{Version: fmt.Sprintf("1.35.%d", i+1)}
		s.Hold()
		converge(t, s, sleeper("lws"), sleeper("other"))
	}
	if second := s.system("lws").process; second == first || !alive(second) {
		t.Error("not restarted")
	}
	if logs := s.LogFiles()["lws"]; len(logs) != 2 {
		t.Errorf("its logs: %v", logs)
	}
	select {
	case err := <-s.Died():
		t.Errorf("reported as a death: %v", err)
	default:
	}
}
