package local

import (
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// life is one start of a process.
type life struct {
	clusters.ProcessLife
	process *processes.Process
}

// ProcessLives returns all starts of the cluster's processes by this program.
func (c *programs) ProcessLives() []clusters.ProcessLife {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]clusters.ProcessLife, 0, len(c.lives))
	for _, l := range c.lives {
		all = append(all, l.ProcessLife)
	}
	return all
}

// noteReady records that a component is ready for the first time since its start.
func (c *programs) noteReady(component clusters.Component) {
	c.mu.Lock()
	defer c.mu.Unlock()
	process := c.running[string(component)]
	for _, l := range c.lives {
		if l.process == process && process != nil && l.Ready.IsZero() {
			l.Ready = c.provider.Now()
		}
	}
}

// noteEnded records the end of a process.
func (c *programs) noteEnded(process *processes.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lives {
		if l.process == process && l.Ended.IsZero() {
			l.Ended, l.Unasked = c.provider.Now(), !process.Expected()
		}
	}
}

// proven are the processes of which it has been proven that they run what the cluster's state says.
type proven struct {
	mu  sync.Mutex
	all map[*processes.Process]bool
}

func (p *proven) add(process *processes.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[*processes.Process]bool{}
	}
	p.all[process] = true
}

func (p *proven) has(process *processes.Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[process]
}
