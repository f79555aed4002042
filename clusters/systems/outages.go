package systems

import (
	"context"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/forwarding"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// mostOutages is how many restarts of the API server a program may live through. client-go doubles the delay of its
// watches with each of them, and forgets that only after two quiet minutes. Transitions of a rehearsal follow each
// other within seconds: after the fourth a program notices changes about eight seconds late, after the sixth about
// forty. A restart takes up to 16 seconds: a program that does not release its lease waits for it.
const mostOutages = 5

// restarter is a cluster that knows the processes of its API servers.
type restarter interface {
	APIServers() map[string]int
}

// outages finds out when API servers were restarted.
type outages struct {
	// last describes the API servers at the last look; "" before the first.
	last string
}

// happened reports whether an API server was restarted since the last look. Where the processes are not known, a change
// of the cluster's state counts.
func (o *outages) happened(cluster clusters.Cluster) bool {
	state := cluster.State()
	state.Systems = nil
	now := "state " + state.String()
	if known, ok := cluster.(restarter); ok {
		now = fmt.Sprint("processes ", known.APIServers())
	}
	before := o.last
	o.last = now
	return before != "" && before != now
}

// noteReadiness notes which programs are ready. Only these are waited for after the cluster has changed: the scenario
// may have made another one unready, and that one stays so. The others keep what was noted.
func noteReadiness(ctx context.Context, s *Set) {
	var all sync.WaitGroup
	for _, name := range s.order {
		if sys := s.system(name); alive(sys.process) {
			all.Go(func() { sys.unready = !isReady(ctx, sys) })
		}
	}
	all.Wait()
}

// isReady reports whether a program is ready. Like a kubelet, it believes only several failures.
func isReady(ctx context.Context, sys *system) bool {
	look, err := readiness(sys)
	for range forwarding.MostFailures {
		if err != nil {
			break
		}
		attempt, cancel := context.WithTimeout(ctx, lookTimeout)
		failed := look(attempt)
		cancel()
		if failed == nil {
			return true
		}
	}
	return false
}

// keepUp checks a system that stays unchanged while the cluster changed.
func (s *Set) keepUp(ctx context.Context, sys *system) error {
	if alive(sys.process) {
		if err := refresh(ctx, sys, s.Progress); err != nil {
			return err
		}
	}
	return s.resume(ctx, sys)
}

// resume starts a system's program if it has ended, and returns when the system serves as before. After an error, the
// next Converge installs the system again.
func (s *Set) resume(ctx context.Context, sys *system) (err error) {
	defer func() { sys.installed = sys.installed && err == nil }()
	switch {
	case !alive(sys.process):
		if endedByItself(sys.process) {
			s.Progress("restarting system %s: %v", sys.definition.Name, sys.process.Failure())
		}
		err = s.start(ctx, sys)
	case !sys.unready:
		err = enter(ctx, s, sys)
	}
	if err != nil {
		return err
	}
	if err := s.answerCalls(ctx, sys); err != nil {
		return err
	}
	return s.serves(ctx, sys)
}

// watch reports a program that exits unexpectedly.
func (s *Set) watch(name string, process *processes.Process) {
	<-process.Done()
	if s.held.Load() || process.Expected() {
		return
	}
	select {
	case s.died <- fmt.Errorf("system %s: %w", name, process.Failure()):
	default: // the channel is full: the first errors are enough
	}
}

// refresh ends a program that lived through too many outages, as the drain of its node would do. The watches of its
// successor have no delay.
func refresh(ctx context.Context, sys *system, progress clusters.Progress) error {
	if sys.outages < mostOutages {
		return nil
	}
	progress("restarting system %s: after %d restarts of the API server its watches would be late",
		sys.definition.Name, sys.outages)
	if err := sys.process.Stop(ctx, stopGrace); err != nil {
		return fmt.Errorf("restart it: %w", err)
	}
	return nil
}
