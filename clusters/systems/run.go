package systems

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// stopGrace is how long a process may take to exit after SIGTERM.
const stopGrace = 10 * time.Second

// launch installs what a process needs, calls installed, starts the process, and returns when it serves. A process that
// already runs is stopped first.
func (s *Set) launch(ctx context.Context, sys *system, installed func()) (err error) {
	if sys.place == nil {
		if sys.place, err = s.places.Make(sys.definition.Name); err != nil {
			return err
		}
	}
	sys.place.Suit(sys.definition)
	if err := s.places.Join(sys.place, sys.definition); err != nil {
		return err
	}
	if sys.program, err = concrete(sys.definition, s.Simulators, sys.built, sys.place); err != nil {
		return err
	}
	if sys.process != nil {
		if err := sys.process.Stop(ctx, stopGrace); err != nil {
			return err
		}
	}
	if err := sys.place.Untaken(); err != nil {
		return err
	}
	ca, err := s.places.Certify(sys.place, sys.program.hosts)
	if err != nil {
		return err
	}
	if err := sys.place.Renew(callsOf(sys.definition), s.Now()); err != nil {
		return err
	}
	if err := s.untouched(ctx, sys); err != nil {
		return err
	}
	before, _, err := s.api.Stock(ctx, "")
	if err != nil {
		return err
	}
	if !sys.program.installsItself {
		if err := s.installer.Install(ctx, &sys.installation, sys.program.content, sys.place.CalledAt(), ca); err != nil {
			return err
		}
		if err := s.installer.trust(ctx, sys, s.places); err != nil {
			return err
		}
		installed()
	}
	sys.unready = false
	err = s.start(ctx, sys)
	if sys.program.installsItself {
		if err != nil {
			return errors.Join(err, s.installer.abandon(ctx, sys, before))
		}
		err = errors.Join(s.installer.takeStock(ctx, sys, before), s.installer.DeleteStale(ctx, sys.place.CalledAt(), ca))
	}
	if err != nil {
		return err
	}
	if err := s.installer.serves(ctx, sys); err != nil {
		return exited(sys, err)
	}
	return s.calls.settle(ctx, sys)
}

func alive(p *processes.Process) bool {
	if p == nil {
		return false
	}
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// endedByItself reports whether a process has exited unexpectedly. The process may be nil.
func endedByItself(p *processes.Process) bool { return p != nil && !alive(p) && !p.Expected() }

// start starts a system's process and returns when it is ready; if it was not ready before, when it runs.
func (s *Set) start(ctx context.Context, sys *system) error {
	if err := sys.place.WriteFiles(sys.program.files); err != nil {
		return err
	}
	spec, err := s.spec(sys, s.Keep)
	if err != nil {
		return err
	}
	name := sys.definition.Name
	if sys.place.Service != nil {
		sys.place.Service.Remove(name) // the new process gets connections once it is ready itself
	}
	process, err := s.spawner.Start(spec)
	if err != nil {
		return err
	}
	sys.process, sys.started, sys.watched = process, time.Now(), false
	sys.pardon.Renew()
	s.addLog(name, process.LogFile)
	if sys.unready {
		s.Progress("system %s was not ready before: not waiting until it is", name)
	}
	if err := s.enter(ctx, sys); err != nil {
		return err
	}
	if sys.place.Front != nil && sys.program.installsItself {
		return s.calls.redirect(ctx, sys)
	}
	return nil
}

// enter returns when a system's process is ready, if it must be, and makes its service use it. The process is watched
// from then on.
func (s *Set) enter(ctx context.Context, sys *system) error {
	look, err := sys.readiness()
	if err != nil {
		return err
	}
	if !sys.unready {
		if err := becomesReady(ctx, sys, look, s.Progress); err != nil {
			return err
		}
	}
	if !sys.watched {
		sys.watched = true
		go s.watch(sys.definition.Name, sys, sys.process)
	}
	if sys.place.Service != nil {
		sys.place.Service.Enter(sys.definition.Name, sys.place, !sys.unready, look)
	}
	return nil
}

func (s *Set) spec(sys *system, lasting bool) (processes.Spec, error) {
	name := sys.definition.Name
	file, err := absolute(sys.program.command[0])
	if err != nil {
		return processes.Spec{}, err
	}
	if file, err = exec.LookPath(file); err != nil {
		return processes.Spec{}, fmt.Errorf("find its program: %w", err)
	}
	var env []string
	for _, values := range []map[string]string{sys.place.Values(), sys.program.env} {
		for _, key := range clusters.SortedKeys(values) {
			env = append(env, key+"="+values[key])
		}
	}
	return processes.Spec{
		Name: "system-" +
			name, Program: file, Args: sys.program.command[1:], Env: env, Dir: sys.place.Dir, LogDir: sys.place.Logs(),
		Owner: s.places.Owner(), Detached: lasting,
	}, nil
}

// ErrNotRunning is the error of Kill if the system's process has already ended.
var ErrNotRunning = errors.New("it is not running")

// Kill ends a system's process without warning and leaves it down until Restart or Converge.
func (s *Set) Kill(ctx context.Context, name string) error {
	s.converging.Lock()
	defer s.converging.Unlock()
	sys, err := s.controllable(name)
	if err != nil {
		return err
	}
	if !alive(sys.process) {
		return ErrNotRunning
	}
	sys.noteReady(ctx, s.api)
	return sys.process.Kill(ctx)
}

// Restart stops a system's process if it runs, restarts it unchanged, and returns when it serves.
func (s *Set) Restart(ctx context.Context, name string) error {
	s.converging.Lock()
	defer s.converging.Unlock()
	sys, err := s.controllable(name)
	if err != nil {
		return err
	}
	if alive(sys.process) {
		if err := sys.process.Stop(ctx, stopGrace); err != nil {
			return err
		}
	}
	sys.unready = false
	return s.resume(ctx, sys)
}

func (s *Set) controllable(name string) (*system, error) {
	sys := s.system(name)
	if sys == nil {
		return nil, errors.New("it is not installed")
	}
	if sys.place == nil {
		return nil, errors.New("it runs in the cluster, not as a process of rehearse; delete its pods instead")
	}
	return sys, nil
}
