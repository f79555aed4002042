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

// planes is a cluster that knows its API servers.
type planes struct {
	fakeCluster
	servers map[string]int
}

func (p *planes) APIServers() map[string]int { return p.servers }

func TestOutages(t *testing.T) {
	cluster := &planes{servers: map[string]int{"kube-apiserver": 1}}
	var seen outages
	for i, step := range []struct {
		state, process string
		want           bool
	}{
		{"1.34.4", "1", false}, // the first look
		{"1.35.4", "2", true},
		{"1.35.4", "3", true},  // a change that was reverted
		{"1.36.3", "3", false}, // nodes or schedulers
	} {
		cluster.state.Version = step.state
		cluster.servers = map[string]int{"kube-apiserver": int(step.process[0])}
		if got := seen.happened(cluster); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
