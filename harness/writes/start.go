package writes

import (
	"context"
	"sync"
)

// start is where writes wait until all of them are ready to be sent.
type start struct {
	mu      sync.Mutex
	awaited int
	open    chan struct{}
}

func newStart(writes int) *start { return &start{awaited: writes, open: make(chan struct{})} }

// place is the place of one write at a start.
type place struct {
	*start
	once sync.Once
}

// arrive waits until all writes are ready. After that it returns at once.
func (p *place) arrive(ctx context.Context) error {
	p.leave()
	select {
	case <-p.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave notes that the write is no longer awaited: it is ready, or it ended before it could be sent.
func (p *place) leave() {
	p.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.awaited--; p.awaited == 0 {
			close(p.open)
		}
	})
}
