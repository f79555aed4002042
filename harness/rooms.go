package harness

import (
	"context"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// idleAfter is how long a step waits before its scenario gives its place to others.
const idleAfter = 5 * time.Second

// rooms are the places for clusters: a limited number for busy ones, and some more while others only wait.
type rooms struct {
	busyLimit, limit int

	mu        sync.Mutex
	busy, all int
	// news signals that there may be a place.
	news chan struct{}
}

func newRooms(busy, spare int) *rooms {
	return &rooms{busyLimit: busy, limit: busy + spare, news: make(chan struct{}, 1)}
}

// enter waits for a place for a cluster, which is busy from then on. It returns nil if the context ended first.
func (r *rooms) enter(ctx context.Context) *activity {
	for !r.entered() {
		select {
		case <-r.news:
		case <-ctx.Done():
			return nil
		}
	}
	return &activity{rooms: r, n: 1}
}

func (r *rooms) entered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy >= r.busyLimit || r.all >= r.limit {
		return false
	}
	r.busy++
	r.all++
	return true
}

// add changes how many clusters are busy, and how many there are.
func (r *rooms) add(busy, all int) {
	r.mu.Lock()
	r.busy, r.all = r.busy+busy, r.all+all
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default: // a waiting goroutine checks both numbers
	}
}

// activity counts what happens in one cluster. At 0 the cluster only waits.
type activity struct {
	rooms *rooms

	mu sync.Mutex
	n  int
}

func (a *activity) begin() { a.add(1) }

func (a *activity) end() { a.add(-1) }

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.n
	a.n += n
	switch {
	case was == 0 && a.n > 0:
		a.rooms.add(1, 0)
	case was > 0 && a.n == 0:
		a.rooms.add(-1, 0)
	}
}

// leave ends the last activity, which is the cluster's own, and gives the place back.
func (a *activity) leave() {
	a.end()
	a.rooms.add(0, -1)
}

// patiently lets a step wait: if it only waits, and has waited for a while, its scenario gives its place to others. The
// returned function takes one again, which may take long. So it is called when the times that the step ends have ended:
// what happens until there is a place does not belong to them. If only one scenario runs at once, it keeps its place.
func patiently(t *trackRun, step *scenarios.Step) (goOn func()) {
	if t.Parallel == 1 || !verbOf(step).waits || len(step.During) > 0 {
		return func() {}
	}
	give := func() bool { // scenarios that wait for a transition do not count
		select {
		case t.waiting <- struct{}{}:
			t.pause()
			return true
		default:
			return false
		}
	}
	return lend(t.IdleAfter, give, func() { t.goOn(); <-t.waiting })
}

// lend gives a place to others if the returned function is not called for a while. That function takes it again, if
// give has given it.
func lend(after time.Duration, give func() bool, take func()) (end func()) {
	given := make(chan bool, 1)
	timer := time.AfterFunc(after, func() { given <- give() })
	return func() {
		if !timer.Stop() && <-given {
			take()
		}
	}
}

// waitingPerSlot is how many scenarios may only wait, for each one that runs. Without a limit, a slow system would get
// the work of all scenarios at once, and none of them would see its end in time. It is not lower, because most
// scenarios with a fault wait until their timeouts.
const waitingPerSlot = 8

// pause gives the place of a scenario to others.
func (t *trackRun) pause() {
	t.release()
	t.activity.end()
}

// goOn takes the place again, even after an interrupt, since it is given back at the end in any case.
func (t *trackRun) goOn() {
	t.slots <- struct{}{}
	t.activity.begin()
}
