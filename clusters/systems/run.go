package systems

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

const (
	// stopGrace is how long a process may take to exit after SIGTERM.
	stopGrace = 10 * time.Second
	// lookInterval is the time between two checks of a condition, lookTimeout the timeout of one check.
	lookInterval = 20 * time.Millisecond
	lookTimeout  = 5 * time.Second
)

// launch installs what a process needs, calls installed, starts the process, and returns when it serves. A process that
// already runs is stopped first.
func (s *Set) launch(ctx context.Context, sys *system, installed func()) (err error) {
	if sys.place == nil {
		if sys.place, err = s.makePlace(sys.definition.Name); err != nil {
			return err
		}
	}
	sys.place.suit(sys.definition)
	if err := s.joinService(sys); err != nil {
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
	if err := sys.place.untaken(); err != nil {
		return err
	}
	ca, err := s.certify(sys.place, sys.program.hosts)
	if err != nil {
		return err
	}
	if f := sys.place.front; f != nil { // with the new certificates
		if err := f.become(callsOf(sys.definition), sys.place, s.now()); err != nil {
			return err
		}
	}
	before, _, err := s.api.stock(ctx, "")
	if err != nil {
		return err
	}
	if !sys.program.installsItself {
		if err := s.install(ctx, sys, ca); err != nil {
			return err
		}
		installed()
	}
	sys.unready = false
	err = s.start(ctx, sys)
	if sys.program.installsItself {
		if err != nil {
			return errors.Join(err, s.abandon(ctx, sys, before))
		}
		err = errors.Join(s.takeStock(ctx, sys, before), s.api.deleteStale(ctx, sys.place.calledAt(), ca))
	}
	if err != nil {
		return err
	}
	if err := s.serves(ctx, sys); err != nil {
		return err
	}
	return s.answerCalls(ctx, sys)
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
	for name, text := range sys.program.files {
		if err := os.WriteFile(sys.place.file(name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write its file %s: %w", name, err)
		}
	}
	spec, err := s.spec(sys, s.Keep)
	if err != nil {
		return err
	}
	name := sys.definition.Name
	if sys.place.service != nil {
		sys.place.service.Remove(name) // the new process gets connections once it is ready itself
	}
	process, err := s.spawner.Start(spec)
	if err != nil {
		return err
	}
	sys.process, sys.started, sys.watched = process, time.Now(), false
	sys.pardon.renew()
	s.addLog(name, process.LogFile)
	if sys.unready {
		s.Progress("system %s was not ready before: not waiting until it is", name)
	}
	if err := s.enter(ctx, sys); err != nil {
		return err
	}
	if sys.place.front != nil && sys.program.installsItself {
		return s.redirectCalls(ctx, sys)
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
	if sys.place.service != nil {
		sys.place.service.enter(sys, !sys.unready, look)
	}
	return nil
}

func becomesReady(ctx context.Context, sys *system, look func(context.Context) error,
	progress clusters.Progress,
) error {
	told := &complaints{say: func(waited time.Duration, text string) {
		progress("system %s is not ready after %s: %s", sys.definition.Name, waited.Round(time.Second), text)
	}}
	err := await(ctx, sys.process, told.watching(look))
	if err == nil {
		return nil
	}
	err = fmt.Errorf("wait until its process is ready: %w", err)
	if alive(sys.process) {
		return err
	}
	return &clusters.BrokenError{
		Component: clusters.SystemComponent(sys.definition.Name),
		Words:     processes.LastLines(sys.process.LogFile, 12), Err: err,
	}
}

func (s *places) spec(sys *system, lasting bool) (processes.Spec, error) {
	name := sys.definition.Name
	file, err := absolute(sys.program.command[0])
	if err != nil {
		return processes.Spec{}, err
	}
	if file, err = exec.LookPath(file); err != nil {
		return processes.Spec{}, fmt.Errorf("find its program: %w", err)
	}
	var env []string
	for _, values := range []map[string]string{sys.place.values(), sys.program.env} {
		for _, key := range clusters.SortedKeys(values) {
			env = append(env, key+"="+values[key])
		}
	}
	return processes.Spec{
		Name: "system-" +
			name, Program: file, Args: sys.program.command[1:], Env: env, Dir: sys.place.dir, LogDir: sys.place.file("logs"),
		Owner: s.owner(), Detached: lasting,
	}, nil
}

// owner is the name by which the cluster's own processes are found.
func (s *places) owner() string {
	if housed, ok := s.cluster.(clusters.Housed); ok {
		return housed.Folder() + string(os.PathSeparator)
	}
	return s.dir + string(os.PathSeparator)
}

var errEarly = errors.New("its initialDelay is not over")

// readiness returns the check whether a process is ready. It fails until the initial delay is over.
func (sys *system) readiness() (func(context.Context) error, error) {
	look, err := sys.check()
	delay, invalid := sys.program.ready.Wait()
	if err := errors.Join(err, invalid); err != nil || delay == 0 {
		return look, err
	}
	first := sys.started.Add(delay)
	return func(ctx context.Context) error {
		if time.Now().Before(first) {
			return errEarly
		}
		return look(ctx)
	}, nil
}

// check returns the check that a system's definition has.
func (sys *system) check() (func(context.Context) error, error) {
	switch ready := sys.program.ready; {
	case ready.HTTPGet != "":
		ca, err := sys.place.authority()
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{
				RootCAs: pool, MinVersion: tls.VersionTLS12,
				InsecureSkipVerify: sys.place.service != nil, //nolint:gosec // its certificate is its own; a kubelet trusts any
			},
			DisableKeepAlives: true,
		}}
		return func(ctx context.Context) error { return get(ctx, client, ready.HTTPGet) }, nil
	case ready.TCP != "":
		return func(ctx context.Context) error {
			connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", ready.TCP)
			if err != nil {
				return err
			}
			return connection.Close()
		}, nil
	}
	return func(context.Context) error { return nil }, nil
}

// complaints reports the error of a check that keeps failing.
type complaints struct {
	say         func(waited time.Duration, text string)
	began, told time.Time
	text        string
}

// An error is reported after firstComplaint. After that it is reported when it changes, or is still the same after
// sameComplaint.
const (
	firstComplaint = 5 * time.Second
	sameComplaint  = 30 * time.Second
)

// watching wraps a check so that its errors are reported.
func (c *complaints) watching(look func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := look(ctx)
		if err != nil {
			c.note(time.Now(), err.Error())
		}
		return err
	}
}

func (c *complaints) note(now time.Time, text string) {
	if c.began.IsZero() {
		c.began, c.told = now, now
	}
	since := now.Sub(c.told)
	if since >= sameComplaint || since >= firstComplaint && text != c.text {
		c.told, c.text = now, text
		c.say(now.Sub(c.began), text)
	}
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 300)) // only additional information
		return fmt.Errorf("GET %s: %s %s", url, response.Status, strings.Join(strings.Fields(string(said)), " "))
	}
	return nil
}

// await repeats a check until it succeeds, the process (if any) ends, or the context ends.
func await(ctx context.Context, process *processes.Process, look func(context.Context) error) error {
	ended := make(<-chan struct{})
	if process != nil {
		ended = process.Done()
	}
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	last := errors.New("there was no time for a check")
	for {
		attempt, cancel := context.WithTimeout(ctx, lookTimeout)
		err := look(attempt)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ended:
			return process.Failure()
		case <-ctx.Done():
			return fmt.Errorf("%w; last error: %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}

// Kill ends a system's process without warning and leaves it down until Restart or Converge.
func (s *Set) Kill(ctx context.Context, name string) error {
	s.converging.Lock()
	defer s.converging.Unlock()
	sys, err := s.controllable(name)
	if err != nil {
		return err
	}
	if !alive(sys.process) {
		return errors.New("it is not running")
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

// serves returns when the CRDs, APIServices and webhooks of a system are served.
func (s *installer) serves(ctx context.Context, sys *system) error {
	if err := s.forgetDeleted(ctx, sys); err != nil {
		return err
	}
	for _, object := range sys.objects {
		look := func(context.Context) error { return nil }
		switch object.kind {
		case crdKind:
			look = func(ctx context.Context) error { return s.api.crdServed(ctx, object.name) }
		case apiServiceKind:
			if sys.unready {
				continue // it may be unavailable because of that
			}
			look = func(ctx context.Context) error { return s.api.available(ctx, object.name) }
		}
		if err := await(ctx, sys.process, look); err != nil {
			return fmt.Errorf("wait until %s is served: %w", object, err)
		}
	}
	if sys.place == nil || sys.unready || sys.place.front != nil && !sys.place.front.usual() {
		return nil // webhooks that need not answer, or must not, cannot be proven
	}
	hooks, err := s.api.hooksAt(ctx, sys.place.calledAt())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(hooks, func(h hook) bool { return h.creates }) {
		at, err := s.api.mature(ctx, sys.objects)
		if err != nil {
			return err
		}
		if !pauses.For(ctx, min(time.Until(at), youth)) {
			return context.Cause(ctx)
		}
	}
	return s.prove(ctx, sys.process, sys.program.probes, hooks, s.api.answers)
}
