package systems

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/outages"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A program that lived through five transitions of Kubernetes is restarted. A change of systems alone does not count.
func TestAProgramIsRestartedBeforeItsWatchesAreLate(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	converge(t, s, sleeper("lws"))
	first := s.system("lws").process
	for i := range outages.Most {
		if s.system("lws").process != first {
			t.Fatalf("restarted after %d transitions", i)
		}
		converge(t, s, sleeper("lws"), sleeper("other"))
		c.state = clusters.State{Version: fmt.Sprintf("1.35.%d", i+1)}
		s.Hold(t.Context())
		converge(t, s, sleeper("lws"), sleeper("other"))
	}
	if second := s.system("lws").process; second == first || !alive(second) {
		t.Error("not restarted")
	}
	if logs := s.LogFiles()["lws"]; len(logs) != 2 {
		t.Errorf("its logs: %v", logs)
	}
	select {
	case err := <-s.Died():
		t.Errorf("reported as a death: %v", err)
	default:
	}
}

// health answers readiness checks of sleepers.
type health struct {
	*httptest.Server
	mu sync.Mutex
	// look decides the answer to a check; nil for ready.
	look  func() bool
	looks int
}

func newHealth(t *testing.T) *health {
	t.Helper()
	h := new(health)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.looks++
		if h.look != nil && !h.look() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// set changes how checks are answered, and counts them anew.
func (h *health) set(look func() bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.look, h.looks = look, 0
}

func (h *health) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.looks
}

func never() bool { return false }

// system returns a sleeper whose readiness is this one.
func (h *health) system(name string) clusters.System {
	system := sleeper(name)
	system.Process.Ready = &clusters.SystemReadiness{HTTPGet: h.URL}
	return system
}

// A program that was not ready before the cluster changed need not be ready afterwards, even if it must be restarted.
func TestWhatWasNotReadyIsNotWaitedFor(t *testing.T) {
	killed := func(t *testing.T, s *Set) {
		golden.Must(t, s.Kill(t.Context(), "lws"))
	}
	nothing := func(*testing.T, *Set) {}
	for name, test := range map[string]struct{ before, during func(*testing.T, *Set) }{
		"it lives":      {nothing, nothing},
		"it ends":       {nothing, func(t *testing.T, s *Set) { die(t, s, "lws") }},
		"it was killed": {killed, nothing},
		"it is refreshed": {nothing, func(_ *testing.T, s *Set) {
			for range outages.Most {
				s.system("lws").pardon.Transition(true, time.Now())
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealth(t)
			s := newSet(t, newFakeCluster(t), Options{})
			converge(t, s, h.system("lws"))
			h.set(never)
			test.before(t, s)
			s.Hold(t.Context())
			test.during(t, s)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			h.set(func() bool {
				cancel(errors.New("it is waited for"))
				return false
			})
			golden.Must(t, s.Converge(ctx, []clusters.System{h.system("lws")}))
			if !alive(s.system("lws").process) {
				t.Error("it does not run")
			}
		})
	}
}

// While the API server is not ready, what was noted before stays: the readiness of a program may depend on it.
func TestReadinessWhileTheAPIServerIsDown(t *testing.T) {
	for _, test := range []struct{ down, before, want bool }{
		{false, false, true}, {true, false, false}, {true, true, true},
	} {
		for name, change := range map[string]func(*Set) error{
			"hold": func(s *Set) error {
				s.Hold(t.Context())
				return nil
			},
			"kill": func(s *Set) error { return s.Kill(t.Context(), "lws") },
		} {
			h, c := newHealth(t), newFakeCluster(t)
			s := newSet(t, c, Options{})
			converge(t, s, h.system("lws"))
			h.set(never)
			c.mu.Lock()
			c.down = test.down
			c.mu.Unlock()
			s.system("lws").unready = test.before
			golden.Must(t, change(s))
			if got := s.system("lws").unready; got != test.want {
				t.Errorf("%s, %+v: unready is %t", name, test, got)
			}
		}
	}
}

// The APIServices of a program that was not ready are not waited for: it may be their only server.
func TestAPIServicesOfWhatIsNotReady(t *testing.T) {
	h := newHealth(t)
	s := newSet(t, newFakeCluster(t), Options{})
	converge(t, s, h.system("lws"))
	sys := s.system("lws")
	service := objects.Reference{Kind: objects.APIServiceKind, Version: "v1", Name: "v1.x"} // the fake has none
	sys.installation.Objects = append(sys.installation.Objects, service)
	h.set(never)
	s.Hold(t.Context())
	converge(t, s, h.system("lws"))
	sys.unready = false
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.installer.serves(ctx, sys); err == nil || !strings.Contains(err.Error(), "v1.x is served") {
		t.Errorf("of one that is ready: %v", err)
	}
}

// A restarted replica that need not be ready gets no connections until it is.
func TestAReplicaThatIsNotReadyGetsNoConnections(t *testing.T) {
	h := newHealth(t)
	s := newSet(t, newFakeCluster(t), Options{})
	replica := h.system("lws")
	replica.Process.Service = "lws"
	converge(t, s, replica)
	at := s.system("lws").place
	program, err := net.Listen("tcp", at.Address())
	golden.Must(t, err)
	defer program.Close()
	go func() {
		for {
			connection, err := program.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(connection, "an answer")
			_ = connection.Close()
		}
	}()
	h.set(never)
	s.Hold(t.Context())
	die(t, s, "lws")
	converge(t, s, replica)
	connection, err := net.Dial("tcp", at.Service.Address())
	golden.Must(t, err)
	defer connection.Close()
	if _, err := connection.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want a closed connection", err)
	}
}

// A program that was ready before the cluster changed is waited for, even if it lives on.
func TestWhatWasReadyIsReadyAfterwards(t *testing.T) {
	h := newHealth(t)
	s := newSet(t, newFakeCluster(t), Options{})
	converge(t, s, h.system("lws"))
	first := pid(s, "lws")
	s.Hold(t.Context())
	left := 5
	h.set(func() bool {
		left--
		return left < 0
	})
	converge(t, s, h.system("lws"))
	if h.count() != 6 || pid(s, "lws") != first {
		t.Errorf("%d looks, pid %d; want 6 at %d", h.count(), pid(s, "lws"), first)
	}
}

// A program that was restarted but did not become ready is installed again by the next change.
func TestAFailedStartIsNotForgotten(t *testing.T) {
	h := newHealth(t)
	s := newSet(t, newFakeCluster(t), Options{})
	for name, fails := range map[string]func(context.Context) error{
		"transition": func(ctx context.Context) error {
			s.Hold(t.Context())
			die(t, s, "lws")
			return s.Converge(ctx, []clusters.System{h.system("lws")})
		},
		"restart": func(ctx context.Context) error { return s.Restart(ctx, "lws") },
	} {
		h.set(nil)
		converge(t, s, h.system("lws"))
		ctx, cancel := context.WithCancel(t.Context())
		looks := 0
		release := func() bool {
			if looks++; looks > 1 { // the first one may be that of Hold
				cancel()
			}
			return looks == 1 && name == "transition"
		}
		h.set(release)
		if err := fails(ctx); err == nil {
			t.Fatalf("%s: no error", name)
		}
		failed := s.system("lws").process
		if !alive(failed) {
			t.Fatalf("%s: it has ended", name)
		}
		h.set(nil)
		converge(t, s, h.system("lws"))
		if s.system("lws").process == failed {
			t.Errorf("%s: what did not become ready is accepted", name)
		}
	}
	die(t, s, "lws")
	if err := <-s.Died(); err == nil {
		t.Error("it is not watched")
	}
}

// A program that ends by itself while its cluster is brought to a state is restarted if an API server was: it lost its
// lease.
func TestALeaseLostDuringATransition(t *testing.T) {
	for _, test := range []struct {
		name    string
		victim  string
		outage  bool
		healthy bool // after the program has ended
	}{
		{"before it is ready again", "b", true, false},
		{"after it was ready again", "a", true, true},
		{"without an outage", "a", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, c := newHealth(t), newFakeCluster(t)
			s := newSet(t, c, Options{})
			converge(t, s, sleeper("a"), h.system("b"))
			first := s.system(test.victim).process
			if test.outage {
				c.state = clusters.State{Version: "1.35.4"}
			}
			s.Hold(t.Context())
			h.set(func() bool { // when b is looked at, a was found well
				if !alive(first) {
					return true
				}
				die(t, s, test.victim)
				return test.healthy
			})
			err := s.Converge(t.Context(), []clusters.System{sleeper("a"), h.system("b")})
			if !test.outage {
				if err == nil || !strings.Contains(err.Error(), "ended by itself") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !alive(s.system(test.victim).process) {
				t.Errorf("not restarted: %v", err)
			}
			select {
			case err := <-s.Died():
				t.Errorf("reported as a death: %v", err)
			default:
			}
		})
	}
}

// restarts yields a value for each restart of a program that ended by itself.
func restarts(t *testing.T, s *Set) <-chan struct{} {
	t.Helper()
	restarting := make(chan struct{}, 8)
	s.Progress = func(format string, args ...any) {
		if t.Logf(format, args...); strings.HasPrefix(format, "restarting system") {
			restarting <- struct{}{}
		}
	}
	return restarting
}

// A program that ends by itself soon after an outage is restarted, but only once, and not later.
func TestALeaseLostAfterATransition(t *testing.T) {
	c := newFakeCluster(t)
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var passed atomic.Int64
	s := newSet(t, c, Options{Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
	restarting := restarts(t, s)
	transition := func(version string) {
		c.state = clusters.State{Version: version}
		s.Hold(t.Context())
		converge(t, s, sleeper("lws"))
	}
	converge(t, s, sleeper("lws"))
	transition("1.35.4")
	first := s.system("lws").process
	die(t, s, "lws")
	<-restarting
	s.converging.Lock() // the restart has it until it is complete
	second := s.system("lws").process
	s.converging.Unlock()
	if second == first || !alive(second) || !s.system("lws").installed {
		t.Fatal("not restarted")
	}
	die(t, s, "lws")
	if err := <-s.Died(); !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("a second time: %v", err)
	}
	transition("1.36.3") // restarts it
	transition("1.37.2")
	passed.Store(int64(outages.PardonTime))
	die(t, s, "lws")
	if err := <-s.Died(); !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("too late: %v", err)
	}
}

// The time in which a program may end by itself begins when the transition ends, however long that takes.
func TestALeaseLostAfterALongTransition(t *testing.T) {
	h, c := newHealth(t), newFakeCluster(t)
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var passed atomic.Int64
	s := newSet(t, c, Options{Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
	restarting := restarts(t, s)
	converge(t, s, h.system("lws"))
	c.state = clusters.State{Version: "1.35.4"}
	s.Hold(t.Context())
	h.set(func() bool {
		passed.Store(int64(2 * outages.PardonTime))
		return true
	})
	converge(t, s, h.system("lws"))
	die(t, s, "lws")
	select {
	case <-restarting:
	case err := <-s.Died():
		t.Errorf("reported as a death: %v", err)
	}
}

// A program that is restarted between two transitions need not become ready: the scenario may prevent it.
func TestARestartBetweenTransitionsNeedNotBeReady(t *testing.T) {
	h := newHealth(t)
	s := newSet(t, newFakeCluster(t), Options{})
	converge(t, s, h.system("lws"))
	for _, killed := range []bool{false, true} {
		process := s.system("lws").process
		if !killed {
			die(t, s, "lws")
		} else if err := s.Kill(t.Context(), "lws"); err != nil {
			t.Fatal(err)
		}
		h.set(never)
		if err := s.revive(s.system("lws"), process, 0); err != nil {
			t.Error(err)
		}
		if runs := alive(s.system("lws").process); runs == killed || !s.system("lws").installed {
			t.Errorf("killed: %t, runs: %t", killed, runs)
		}
	}
}

// A program that ended before a transition, but is not restarted yet, is restarted when the cluster has changed. It was
// not made unready.
func TestNoRestartWhileTheClusterChanges(t *testing.T) {
	h := newHealth(t)
	s := newSet(t, newFakeCluster(t), Options{})
	converge(t, s, h.system("lws"))
	ended := s.system("lws").process
	die(t, s, "lws")
	h.set(never)
	s.Hold(t.Context())
	golden.Must(t, s.revive(s.system("lws"), ended, 0))
	if sys := s.system("lws"); sys.process != ended || sys.unready {
		t.Errorf("restarted: %t, unready: %t", sys.process != ended, sys.unready)
	}
	h.set(nil)
	converge(t, s, h.system("lws"))
	if !alive(s.system("lws").process) {
		t.Error("it does not run")
	}
}
