package load

import (
	"context"
	"time"
)

// standstill is a time in which this process did not run: the machine was frozen, or far too busy. It says nothing
// about the API server.
type standstill struct{ From, To time.Time }

const (
	// heartbeat is how often a load notes that it runs.
	heartbeat = 250 * time.Millisecond
	// overdue is how late a heartbeat comes after a standstill. A busy machine delays it by less.
	overdue = time.Second
)

// watch notes in which times this process does not run. It returns a function that ends this, and waits until the last
// of them is noted.
func (r *Running) watch() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	ticker, last := r.load.Clock.NewTicker(heartbeat), r.load.Clock.Now()
	go func() {
		defer close(ended)
		defer ticker.Stop()
		for ctx.Err() == nil {
			select {
			case <-ticker.C():
			case <-ctx.Done():
			}
			now := r.load.Clock.Now()
			if now.Sub(last) > heartbeat+overdue {
				r.mu.Lock()
				r.stood = append(r.stood, standstill{From: last, To: now})
				r.mu.Unlock()
			}
			last = now
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// stoodStill returns how long this process stood still between two times.
func stoodStill(stood []standstill, from, to time.Time) (d time.Duration) {
	for _, s := range stood {
		begin, end := s.From, s.To
		if from.After(begin) {
			begin = from
		}
		if to.Before(end) {
			end = to
		}
		d += max(0, end.Sub(begin))
	}
	return d
}
