package processes

import "sync"

// Predecessors are processes that end while others of the same names start. The zero value has none.
type Predecessors struct {
	mu   sync.Mutex
	gone map[string]func() error
}

// Begin begins to end the named process. It returns a function that waits for the end.
func (p *Predecessors) Begin(name string, end func() error) (gone func() error) {
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	gone = sync.OnceValue(func() error { return <-ended })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = map[string]func() error{}
	}
	p.gone[name] = gone
	return gone
}

// Await waits until the predecessor of a process, if any, is gone. Until then it might answer instead.
func (p *Predecessors) Await(name string) error {
	p.mu.Lock()
	gone := p.gone[name]
	p.mu.Unlock()
	if gone == nil {
		return nil
	}
	return gone()
}
