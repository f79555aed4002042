package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// dummies is a cluster whose components are shells that do nothing. The endpoints of all of them are one server: it
// answers requests for their health like the function well, and says that each lease was renewed after every restart,
// and, if there are several control planes, that each component leads.
func dummies(t *testing.T, planes int, well func(r *http.Request) bool) *Cluster {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch isWell := well(r); {
		case strings.Contains(r.URL.Path, "/leases/"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"spec":{"holderIdentity":"someone","renewTime":"2100-01-01T00:00:00.000000Z"}}`)
		case planes > 1 && r.URL.Path == "/metrics":
			for _, component := range clusters.ControlPlane() {
				fmt.Fprintf(w, "leader_election_master_status{name=%q} 1\n", component)
			}
		case !isWell:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	golden.Must(t, err)
	port, err := strconv.Atoi(address.Port())
	golden.Must(t, err)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	client, err := kubernetes.NewForConfig(config)
	golden.Must(t, err)
	p := New(Options{})
	ports := listening{Planes: slices.Repeat([]planePorts{{port, port, port}}, planes)}
	own := &programs{
		provider: p, layout: layout{Dir: t.TempDir(), Ports: ports}, probe: &prober{client: server.Client()},
		died: make(chan error, 16), record: record{Ports: ports, Processes: map[string]started{}},
		running: map[string]*processes.Process{balancerProcess: {}}, logs: map[clusters.Component][]string{},
	}
	for plane := range planes {
		own.running[string(clusters.APIServer.On(plane))] = &processes.Process{}
	}
	c := &Cluster{programs: own}
	c.roller = roller{own, schedulers{programs: own}, leaders{own, client}}
	t.Cleanup(func() {
		c.starts.Lock() // nothing starts while the folder is removed
		defer c.starts.Unlock()
		c.deleted.Store(true)
		for _, l := range c.lives {
			_ = l.process.Kill(context.WithoutCancel(t.Context()))
		}
		p.spawner.Close() // the kernel kills the others
	})
	return c
}

func always(*http.Request) bool { return true }

// sleeps is a component that runs until it is killed.
func sleeps() started { return started{Program: "/bin/sleep", Args: []string{"1000"}} }

// loses is a component that loses its lease when it is started for the first time, and then logs much, as controllers
// that end do. It creates the file. The shell does so itself: a program that it started could still write while the
// folder is removed, since only the shell is awaited.
func loses(file string) started {
	return started{Program: "/bin/sh", Args: []string{
		"-c", `[ -e "$0" ] && : >"$0-again" && exec sleep 1000; : >"$0"; echo leaderelection lost; ` +
			`printf 'shutting down %s\n'` + strings.Repeat(" controller", 100) + `; exit 1`, file,
	}}
}

// lost starts a component that loses its lease, without a watcher. It returns when the process has ended.
func lost(t *testing.T, c *Cluster, name, file string) *processes.Process {
	t.Helper()
	s := loses(file)
	process, err := c.provider.spawner.Start(processes.Spec{
		Name: name, Program: s.Program, Args: s.Args, LogDir: c.layout.logs(),
	})
	golden.Must(t, err)
	<-process.Done()
	if !lostLease(process) {
		t.Fatalf("it did not lose its lease: %v", process.Failure())
	}
	c.running[name], c.record.Processes[name] = process, s
	return process
}

func described(process *processes.Process) string {
	if process == nil {
		return "nothing"
	}
	return fmt.Sprintf("process %d", process.PID)
}

// onlyRuns checks that a process, or none, is the only one that runs.
func onlyRuns(t *testing.T, c *Cluster, name string, want *processes.Process) {
	t.Helper()
	c.changing.Lock(name)() // whoever has begun to change it has finished
	if got := c.process(name); got != want {
		t.Errorf("%s is %s, want %s", name, described(got), described(want))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lives {
		if hasEnded(l.process) == (l.process == want) {
			t.Errorf("process %d has ended: %t", l.process.PID, hasEnded(l.process))
		}
	}
	select {
	case err := <-c.Died():
		t.Errorf("a death is reported: %v", err)
	default:
	}
}

// A process that lost its lease is restarted only if it is still the one of its name.
func TestResume(t *testing.T) {
	name := string(clusters.ControllerManager.On(0))
	for what, meanwhile := range map[string]func(t *testing.T, c *Cluster) error{
		"nothing":  func(*testing.T, *Cluster) error { return nil },
		"replaced": func(t *testing.T, c *Cluster) error { return c.replace(t.Context(), name, sleeps()) },
		"killed":   func(t *testing.T, c *Cluster) error { return c.Kill(t.Context(), clusters.ControllerManager) },
	} {
		t.Run(what, func(t *testing.T) {
			c := dummies(t, 2, always)
			dead := lost(t, c, name, filepath.Join(c.layout.Dir, "lost"))
			golden.Must(t, meanwhile(t, c))
			before := c.process(name)
			next, err := c.resume(dead)
			if err != nil || (next != nil) != (what == "nothing") {
				t.Errorf("it was resumed as %s, %v", described(next), err)
			}
			if what == "nothing" {
				before = next
			}
			onlyRuns(t, c, name, before)
			if again, err := c.resume(dead); again != nil || err != nil {
				t.Errorf("it was resumed twice: %v", err)
			}
		})
	}
}

// A component that has ended is an error, except if its API server was killed: then it is restarted with it.
func TestAllRun(t *testing.T) {
	c := dummies(t, 2, always)
	name := string(clusters.ControllerManager.On(1))
	process, err := c.provider.spawner.Start(processes.Spec{
		Name: name, Program: "/bin/sh", Args: []string{"-c", "exit 1"}, LogDir: c.layout.logs(),
	})
	golden.Must(t, err)
	<-process.Done()
	c.running[name] = process
	golden.Error(t, c.allRun(), name) // it ended, and its API server runs
	c.forget(string(clusters.APIServer.On(1)))
	if err := c.allRun(); err != nil {
		t.Errorf("its API server was killed: %v", err)
	}
}

// A component that lost its lease is replaced or killed at the moment at which it is restarted: then only the new one
// runs, or none, and no death is reported.
func TestLostLeaseDuringAChange(t *testing.T) {
	c := dummies(t, 2, always)
	name := string(clusters.ControllerManager.On(1))
	for round := range 60 {
		before := len(c.ProcessLives())
		golden.Must(t, c.replace(t.Context(), name, loses(filepath.Join(c.layout.Dir, strconv.Itoa(round)))))
		c.mu.Lock()
		first := c.lives[before].process
		c.mu.Unlock()
		<-first.Done() // its watcher restarts it now
		for range round / 2 {
			_ = lostLease(first) // each round has another moment
		}
		if round%2 == 0 {
			golden.Must(t, c.replace(t.Context(), name, sleeps()))
			c.mu.Lock()
			if got := c.record.Processes[name]; got.Program != sleeps().Program || got.PID != c.running[name].PID {
				t.Errorf("what runs is recorded as %+v", got)
			}
			c.mu.Unlock()
			onlyRuns(t, c, name, c.process(name))
		}
		golden.Must(t, c.stop(t.Context(), name))
		onlyRuns(t, c, name, nil)
	}
}

// A transition restarts a component that has ended, unless it runs again already. It returns when the component is
// ready.
func TestReadyOrAgain(t *testing.T) {
	name := clusters.ControllerManager.On(0)
	for what, test := range map[string]struct {
		// meanwhile runs after the transition has noticed the end.
		meanwhile func(c *Cluster, dead *processes.Process) error
		want      string
	}{
		"nobody else restarts it": {func(*Cluster, *processes.Process) error { return nil }, ""},
		"its watcher restarts it": {func(c *Cluster, dead *processes.Process) error {
			_, err := c.resume(dead)
			return err
		}, ""},
		"it is killed": {func(c *Cluster, _ *processes.Process) error {
			return c.Kill(context.Background(), name)
		}, "kube-controller-manager@0 is not running"},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lost")
			var c *Cluster
			var dead *processes.Process
			var failed error
			once := sync.OnceFunc(func() { failed = test.meanwhile(c, dead) })
			c = dummies(t, 2, func(r *http.Request) bool {
				if r.URL.Path == healthPath(clusters.APIServer) {
					once()
					return true
				}
				_, err := os.Stat(file + "-again")
				return err == nil
			})
			dead = lost(t, c, string(name), file)
			err := c.readyOrAgain(t.Context(), name)
			if failed != nil {
				t.Fatal(failed)
			}
			if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if starts := len(c.ProcessLives()); (starts == 1) != (test.want == "") {
				t.Errorf("it was started %d times", starts)
			}
			onlyRuns(t, c, string(name), c.process(string(name)))
		})
	}
}

// A component that exits after the API servers are back, but before their restart returns, is reported.
func TestEndAfterARestart(t *testing.T) {
	var c *Cluster
	name := string(clusters.ControllerManager.On(0))
	c = dummies(t, 2, func(r *http.Request) bool {
		if process := c.process(name); strings.Contains(r.URL.Path, "/leases/") && process != nil {
			golden.Must(t, syscall.Kill(process.PID, syscall.SIGKILL))
			<-process.Done()
		}
		return true
	})
	for _, component := range []clusters.Component{clusters.APIServer, clusters.ControllerManager} {
		for plane := range 2 {
			golden.Must(t, c.start(string(component.On(plane)), sleeps()))
		}
	}
	if err := c.Restart(t.Context(), clusters.APIServer); err == nil {
		t.Fatal("the restart does not say that the component has ended")
	}
	golden.Error(t, <-c.Died(), name)
}

// Each kube-controller-manager that runs is restarted; one that was killed is not started.
func TestRediscover(t *testing.T) {
	for what, down := range map[string][]int{"all run": nil, "one is down": {1}, "all are down": {0, 1, 2}} {
		t.Run(what, func(t *testing.T) {
			c := dummies(t, 3, always)
			for plane := range 3 {
				golden.Must(t, c.start(string(clusters.ControllerManager.On(plane)), sleeps()))
			}
			for _, plane := range down {
				golden.Must(t, c.Kill(t.Context(), clusters.ControllerManager.On(plane)))
			}
			before := maps.Clone(c.running)
			golden.Must(t, c.Rediscover(t.Context()))
			for plane := range 3 {
				name := string(clusters.ControllerManager.On(plane))
				now := c.process(name)
				if runs := now != nil && !hasEnded(now); runs == slices.Contains(down, plane) || runs && now == before[name] {
					t.Errorf("%s: it runs: %t; it is the same as before: %t", name, runs, now == before[name])
				}
			}
		})
	}
}

// A folder is removed after the end of its cluster's processes. A program of the user that works with the folder lives
// on.
func TestRemoveFolder(t *testing.T) {
	c := dummies(t, 1, always)
	dir := c.layout.Dir
	golden.Must(t, c.start("etcd", sleeps()))
	shell := func() *processes.Process {
		process, err := c.provider.spawner.Start(processes.Spec{
			Name: "shell", Program: "/bin/sh", Args: []string{"-c", "sleep 1000; true", dir + "/kubeconfig"},
			LogDir: t.TempDir(),
		})
		golden.Must(t, err)
		return process
	}
	older, users := shell(), shell()
	c.record.Processes["older"] = started{PID: older.PID}
	golden.Must(t, c.save())
	etcd := c.process("etcd")
	golden.Must(t, removeFolder(dir))
	<-etcd.Done()
	<-older.Done()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	if hasEnded(users) {
		t.Error("it killed a process that nobody started for the cluster")
	}
	if err := users.Kill(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
