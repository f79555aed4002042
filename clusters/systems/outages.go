package systems

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/outages"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

// lostLease reports whether a program ended by itself after it lived through an outage, for the first time.
func (sys *system) lostLease() bool { return endedByItself(sys.process) && sys.pardon.Given() }

// noteReadiness notes which programs are ready. Only these are waited for after the cluster has changed: the scenario
// may have made another one unready, and that one stays so. The others keep what was noted.
func (s *Set) noteReadiness(ctx context.Context) {
	var all sync.WaitGroup
	for _, sys := range s.all() {
		if alive(sys.process) {
			all.Go(func() { sys.noteReady(ctx, s.api) })
		}
	}
	all.Wait()
}

// noteReady notes whether a program is ready. While the API server is not ready, a program that needs it is not ready
// either: what was noted before counts.
func (sys *system) noteReady(ctx context.Context, api *objects.Client) {
	look, err := sys.readiness()
	if err == nil && waiting.Holds(ctx, look) {
		sys.unready = false
		return
	}
	if waiting.Once(ctx, api.Ready) == nil {
		sys.unready = true
	}
}

// keepUp checks a system that stays unchanged while the cluster changed. A program that loses its lease meanwhile is
// restarted once.
func (s *Set) keepUp(ctx context.Context, sys *system) error {
	if alive(sys.process) {
		if err := refresh(ctx, sys, s.Progress); err != nil {
			return err
		}
	}
	err := s.resume(ctx, sys)
	if err != nil && sys.lostLease() {
		err = s.resume(ctx, sys)
	}
	sys.installed = err == nil
	return err
}

// resume starts a system's program if it has ended, and returns when the system serves as before. After an error, the
// next Converge installs the system again.
func (s *Set) resume(ctx context.Context, sys *system) (err error) {
	defer func() { sys.installed = sys.installed && err == nil }()
	switch {
	case !alive(sys.process):
		if endedByItself(sys.process) {
			s.Progress("restarting system %s, which ended by itself: %v; its log is %s", sys.definition.Name, sys.process.Exit(),
				sys.process.LogFile)
		}
		err = s.start(ctx, sys)
	case !sys.unready:
		err = s.enter(ctx, sys)
	}
	if err != nil {
		return err
	}
	if _, err := s.calls.answer(ctx, sys); err != nil {
		return err
	}
	return exited(sys, s.installer.serves(ctx, sys))
}

// watch reports a program that exits unexpectedly. It restarts one that lost its lease in an outage.
func (s *Set) watch(name string, sys *system, process *processes.Process) {
	<-process.Done()
	pardoned := sys.pardon.Lasts(s.Now())
	if s.held.Load() || process.Expected() {
		return
	}
	err := fmt.Errorf("system %s: %w", name, process.Failure())
	if pardoned {
		err = s.revive(sys, process, outages.PardonTime)
	}
	if err == nil {
		return
	}
	select {
	case s.died <- err:
	default: // the channel is full: the first errors are enough
	}
}

// revive restarts a program that ended by itself, unless that was done meanwhile, or the system was changed or removed.
// If the cluster is about to change, the next Converge restarts it. If it runs but does not become ready in time, the
// scenario may have made it unready since the outage.
func (s *Set) revive(sys *system, ended *processes.Process, timeout time.Duration) error {
	s.converging.Lock()
	defer s.converging.Unlock()
	if s.held.Load() || sys.process != ended || ended.Expected() {
		return nil
	}
	delay, _ := sys.program.ready.Wait() // it was valid when the system was installed
	ctx, cancel := context.WithTimeout(s.life, timeout+delay)
	defer cancel()
	sound := sys.installed
	err := s.resume(ctx, sys)
	if err != nil && alive(sys.process) {
		s.Progress("system %s runs again, but: %v", sys.definition.Name, err)
		sys.unready = true
		err = s.enter(s.life, sys)
	}
	sys.installed = sound && err == nil
	if err == nil || s.life.Err() != nil {
		return nil
	}
	return fmt.Errorf("restart system %s, which ended by itself after a restart of the API server: %w",
		sys.definition.Name, err)
}

// refresh ends a program that lived through too many outages, as the drain of its node would do. The watches of its
// successor have no delay.
func refresh(ctx context.Context, sys *system, progress clusters.Progress) error {
	if !sys.pardon.Late() {
		return nil
	}
	progress("restarting system %s: after %d restarts of the API server its watches would be late",
		sys.definition.Name, outages.Most)
	if err := sys.process.Stop(ctx, stopGrace); err != nil {
		return fmt.Errorf("restart it: %w", err)
	}
	return nil
}
