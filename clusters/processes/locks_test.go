package processes_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// One name is locked by one at a time. Other names are not affected.
func TestLocks(t *testing.T) {
	var locks processes.Locks
	defer locks.Lock("other")()
	const workers, rounds = 8, 100
	entered := 0
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range rounds {
				unlock := locks.Lock("server")
				before := entered
				runtime.Gosched()
				entered = before + 1
				unlock()
			}
		})
	}
	all.Wait()
	if entered != workers*rounds {
		t.Errorf("%d entries were counted, want %d: two were inside at once", entered, workers*rounds)
	}
}
