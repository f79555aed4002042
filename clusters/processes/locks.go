package processes

import "sync"

// Locks are mutexes by name. The zero value has them all unlocked.
type Locks struct {
	mu     sync.Mutex
	byName map[string]*sync.Mutex
}

// Lock locks the mutex of a name, and returns the function that unlocks it.
func (l *Locks) Lock(name string) (unlock func()) {
	l.mu.Lock()
	one := l.byName[name]
	if one == nil {
		one = &sync.Mutex{}
		if l.byName == nil {
			l.byName = map[string]*sync.Mutex{}
		}
		l.byName[name] = one
	}
	l.mu.Unlock()
	one.Lock()
	return one.Unlock
}
