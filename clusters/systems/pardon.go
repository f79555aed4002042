package systems

import (
	"sync"
	"time"
)

// mostOutages is how many restarts of the API server a program may live through. client-go doubles the delay of its
// watches with each of them, and forgets that only after two quiet minutes. Transitions of a rehearsal follow each
// other within seconds: after the fourth a program notices changes about eight seconds late, after the sixth about
// forty. A restart takes up to 16 seconds: a program that does not release its lease waits for it.
const mostOutages = 5

// pardonTime is how long after a transition that restarted the API server a program may end by itself and is restarted,
// once: it lost its lease. Leases expire after 10 to 30 seconds by default, and the shutdown takes some more.
const pardonTime = 30 * time.Second

// pardon is what a program may do after outages of the API server that it lived through. The zero value is that of a
// program that has lived through none.
type pardon struct {
	outages int
	// until when it may end by itself; zero if it may not. mu: this is also read when a process ends, which may be at any
	// time. Everything else happens during changes, one after the other.
	until time.Time
	mu    sync.Mutex
}

// renew is for a new process of the program.
func (p *pardon) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outages, p.until = 0, time.Time{}
}

// transition is for each transition that the program lives through. After an outage, the program may end by itself; it
// may no longer if the last outage was too long ago.
func (p *pardon) transition(outage bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case outage:
		p.outages++
		p.until = now.Add(pardonTime)
	case now.After(p.until):
		p.until = time.Time{}
	}
}

// prolong restarts pardonTime at the end of a transition, unless the program has ended by itself.
func (p *pardon) prolong(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.until.IsZero() {
		p.until = now.Add(pardonTime)
	}
}

// given reports whether the program may end by itself during this transition.
func (p *pardon) given() bool { return !p.until.IsZero() }

// lasts reports whether the program may still end by itself.
func (p *pardon) lasts(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.until)
}
