package outages

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

// planes is a cluster that knows its API servers.
type planes struct {
	clusters.Cluster
	state   clusters.State
	servers map[string]int
}

func (p *planes) State() clusters.State      { return p.state }
func (p *planes) APIServers() map[string]int { return p.servers }

func TestSeen(t *testing.T) {
	cluster := &planes{servers: map[string]int{"kube-apiserver": 1}}
	var seen Seen
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
		if got := seen.Happened(cluster); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
