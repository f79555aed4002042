// Package barrier lets all scenarios of a track wait for each other before each transition of their cluster.
package barrier

import (
	"context"
	"sync"
	"time"
)

// Barrier is where the scenarios of a track wait for each other before each transition. When the last one has arrived
// or left, the cluster makes the transition. Then all continue with its result.
type Barrier struct {
	// cross makes the n-th transition, from 0.
	cross func(n int) error

	mu       sync.Mutex
	alive    int
	waiting  int
	crossing bool
	crossed  int
	round    *round
	// before are the functions to call when all have arrived, before the crossing.
	before []func()
}

// round is one crossing, for the scenarios that wait for it.
type round struct {
	done chan struct{}
	err  error
	// began and ended are the times of the crossing; to be read when it is done.
	began, ended time.Time
}

// New makes a barrier for that many scenarios.
func New(alive int, cross func(n int) error) *Barrier {
	return &Barrier{cross: cross, alive: alive, round: &round{done: make(chan struct{})}}
}

// Arrive waits until all scenarios that are still alive have arrived and the cluster has crossed. It returns the time
// and the error of the crossing. If the context ends first, it returns the cause, and the scenario does not count as
// arrived. It calls before, unless nil, when all have arrived, before the cluster crosses.
func (b *Barrier) Arrive(ctx context.Context, before func()) (time.Duration, error) {
	b.mu.Lock()
	r := b.round
	b.waiting++
	if before != nil {
		b.before = append(b.before, before)
	}
	b.begin()
	b.mu.Unlock()
	select {
	case <-r.done:
		return r.ended.Sub(r.began), r.err
	case <-ctx.Done():
		return b.giveUp(ctx, r)
	}
}

func (b *Barrier) giveUp(ctx context.Context, r *round) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-r.done:
		return r.ended.Sub(r.began), r.err
	default:
	}
	if !b.crossing {
		b.waiting--
		return 0, context.Cause(ctx)
	}
	return time.Since(r.began), context.Cause(ctx)
}

// Leave removes a scenario that has ended, with whatever result. Call it once for each.
func (b *Barrier) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alive--
	b.begin()
}

// begin crosses if all scenarios that are still alive have arrived. If there are none, it does nothing.
func (b *Barrier) begin() {
	if b.crossing || b.waiting == 0 || b.waiting < b.alive {
		return
	}
	b.crossing = true
	n, r, before := b.crossed, b.round, b.before
	b.before = nil
	r.began = time.Now()
	go func() {
		var all sync.WaitGroup
		for _, do := range before {
			all.Go(do)
		}
		all.Wait()
		err := b.cross(n)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.crossing, b.waiting = false, 0
		b.crossed++
		b.round = &round{done: make(chan struct{})}
		r.err, r.ended = err, time.Now()
		close(r.done)
	}()
}

// Crossings returns the number of finished transitions.
func (b *Barrier) Crossings() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.crossed
}

// Settle waits until no transition is running. It reports whether more than the given number are finished.
func (b *Barrier) Settle(ctx context.Context, over int) bool {
	b.mu.Lock()
	crossing, done, more := b.crossing, b.round.done, b.crossed > over
	b.mu.Unlock()
	if !crossing {
		return more
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
