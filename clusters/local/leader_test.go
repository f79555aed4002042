package local

import (
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// A lease counts if it was renewed after the last end of a process that could have held it, or of an API server.
func TestLastEnd(t *testing.T) {
	opened := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return opened.Add(time.Duration(seconds) * time.Second) }
	lives := func(ended map[clusters.Component]time.Time) (all []*life) {
		for component, end := range ended {
			all = append(all, &life{
				process: &processes.Process{}, ProcessLife: clusters.ProcessLife{Component: component, Ended: end},
			})
		}
		return all
	}
	type ends map[clusters.Component]time.Time
	for name, test := range map[string]struct {
		ended ends
		want  time.Time
	}{
		"nothing ended":           {ends{clusters.Scheduler.On(0): {}}, opened},
		"one of it ended":         {ends{clusters.Scheduler.On(1): at(3), clusters.Scheduler.On(0): at(2)}, at(3)},
		"an API server ended":     {ends{clusters.Scheduler.On(1): at(3), clusters.APIServer.On(0): at(4)}, at(4)},
		"another kind ended":      {ends{clusters.ControllerManager.On(1): at(3)}, opened},
		"it ended before opening": {ends{clusters.Scheduler.On(1): at(-3)}, opened},
	} {
		c := &leaders{programs: &programs{opened: opened, lives: lives(test.ended)}}
		if got := c.lastEnd(clusters.Scheduler); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
