// Package outages notices restarts of API servers, and knows what a program may do after them.
package outages

import (
	"sync"
	"time"
)

// Most is how many restarts of the API server a program may live through. client-go doubles the delay of its
// watches with each of them, and forgets that only after two quiet minutes. Transitions of a rehearsal follow each
// other within seconds: after the fourth a program notices changes about eight seconds late, after the sixth about
// forty. A restart takes up to 16 seconds: a program that does not release its lease waits for it.
const Most = 5

// PardonTime is how long after a transition that restarted the API server a program may end by itself and is restarted,
// once: it lost its lease. Leases expire after 10 to 30 seconds by default, and the shutdown takes some more.
const PardonTime = 30 * time.Second

// Pardon is what a program may do after outages of the API server that it lived through. The zero value is that of a
// program that has lived through none.
type Pardon struct {
	outages int
	// until when it may end by itself; zero if it may not. mu: this is also read when a process ends, which may be at any
	// time. Everything else happens during changes, one after the other.
	until time.Time
	mu    sync.Mutex
}

// Renew is for a new process of the program.
func (p *Pardon) Renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outages, p.until = 0, time.Time{}
}

// Transition is for each transition that the program lives through. After an outage, the program may end by itself; it
// may no longer if the last outage was too long ago.
func (p *Pardon) Transition(outage bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case outage:
		p.outages++
		p.until = now.Add(PardonTime)
	case now.After(p.until):
		p.until = time.Time{}
	}
}

// Prolong restarts PardonTime at the end of a transition, unless the program has ended by itself.
func (p *Pardon) Prolong(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.until.IsZero() {
		p.until = now.Add(PardonTime)
	}
}

// Given reports whether the program may end by itself during this transition.
func (p *Pardon) Given() bool { return !p.until.IsZero() }

// Lasts reports whether the program may still end by itself.
func (p *Pardon) Lasts(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.until)
}

// Late reports whether the watches of the program would be late: it lived through too many outages.
func (p *Pardon) Late() bool { return p.outages >= Most }
