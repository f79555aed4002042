package local

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// A component that exits because its API server is down has not died. Only the API server of its own control plane
// counts; for a component on no control plane, all of them do.
func TestLacksAPIServer(t *testing.T) {
	three := layout{Ports: listening{Planes: make([]planePorts, 3)}}
	for name, test := range map[string]struct {
		layout    layout
		running   []string
		component clusters.Component
		want      bool
	}{
		"a single one runs":           {layout{}, []string{"kube-apiserver"}, clusters.Scheduler, false},
		"a single one was killed":     {layout{}, nil, clusters.Scheduler, true},
		"its own was killed":          {three, []string{"kube-apiserver@0", "kube-apiserver@1"}, clusters.Scheduler.On(2), true},
		"another's was killed":        {three, []string{"kube-apiserver@0", "kube-apiserver@1"}, clusters.Scheduler.On(1), false},
		"one of the balancer's is":    {three, []string{"kube-apiserver@0", "kube-apiserver@1"}, nodesProcess, true},
		"all of the balancer's run":   {three, []string{"kube-apiserver@0", "kube-apiserver@1", "kube-apiserver@2"}, nodesProcess, false},
		"further schedulers go there": {three, []string{"kube-apiserver@0"}, "kube-scheduler/batch", true},
	} {
		c := &programs{layout: test.layout, running: map[string]*processes.Process{}}
		for _, process := range test.running {
			c.running[process] = &processes.Process{}
		}
		if got := lacksAPIServer(c, test.component); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
