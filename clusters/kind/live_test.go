package kind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// onEngine returns a provider for this machine's container engine. It skips the test unless REHEARSE_TEST_KIND is set.
func onEngine(t testing.TB) *Provider {
	t.Helper()
	if os.Getenv("REHEARSE_TEST_KIND") == "" {
		t.Skip("needs a container engine and node images: make test-kind")
	}
	begun := time.Now()
	p, err := Default(releases.Options{}, NodeImages{}, func(format string, args ...any) {
		t.Logf("%6.1fs "+format, append([]any{time.Since(begun).Seconds()}, args...)...)
	})
	golden.Must(t, err)
	return p
}

// create creates a cluster, deletes it after the test, and fails the test if anything of it is left.
func create(t *testing.T, p *Provider, name string, state clusters.State) *Cluster {
	t.Helper()
	made, err := p.Create(t.Context(), name, state)
	golden.Must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if t.Failed() {
			dir, _ := os.MkdirTemp("", name)
			t.Logf("logs: %s, %v", dir, made.Collect(ctx, dir))
		}
		if err := made.Delete(ctx); err != nil {
			t.Error(err)
		}
		gone(t, p, name)
	})
	return made.(*Cluster)
}

// gone fails the test if anything of a cluster is left.
func gone(t *testing.T, p *Provider, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	e, err := p.engine(ctx)
	golden.Must(t, err)
	if taken, err := nodes.Taken(ctx, e, name); err != nil || taken {
		t.Errorf("containers of %s are left (%t, %v)", name, taken, err)
	}
	if _, err := os.Stat(filepath.Join(p.Root, name)); !os.IsNotExist(err) {
		t.Errorf("the folder of %s is left: %v", name, err)
	}
}

func resolved(t *testing.T, p *Provider, state clusters.State) clusters.State {
	t.Helper()
	state, err := p.Resolve(t.Context(), state)
	golden.Must(t, err)
	return state
}

const gate = "RelaxedServiceNameValidation"

// A component with an unknown gate does not start, and the cluster can still change to another state.
func TestLiveGates(t *testing.T) {
	p := onEngine(t)
	t.Parallel() // most of the time it waits
	on := resolved(t, p, clusters.State{Version: "1.34", FeatureGates: map[string]bool{gate: true}})
	c := create(t, p, "rehearse-live-gates", on)
	if err := createService(t, c, "9-web"); err != nil {
		t.Errorf("gate on: %v", err)
	}
	wrong := on.With(clusters.Change{FeatureGates: map[string]*bool{"NoSuchGate": ptr(true)}})
	begun := time.Now()
	err := c.Converge(t.Context(), wrong)
	p.Progress("a wrong gate was found after %.1fs: %v", time.Since(begun).Seconds(), err)
	if broken, other := clusters.Breakage(err); len(broken) != 1 || len(other) != 0 ||
		!strings.HasPrefix(broken[0].Error(), string(broken[0].Component)+" does not start: ") ||
		!strings.Contains(broken[0].Error(), "NoSuchGate") || !strings.Contains(broken[0].Words, "NoSuchGate") {
		t.Errorf("a wrong gate broke %v, and %v", broken, other)
	}
	begun = time.Now()
	if err := c.Converge(t.Context(),
		on.With(clusters.Change{FeatureGates: map[string]*bool{gate: ptr(false)}})); err != nil {
		t.Fatalf("gate off: %v", err)
	}
	p.Progress("gate change took %.1fs", time.Since(begun).Seconds())
	if err := createService(t, c, "8-web"); !apierrors.IsInvalid(err) {
		t.Errorf("gate off: %v", err)
	}
	for _, component := range append(clusters.ControlPlane(), clusters.Etcd, clusters.Kubelet, clusters.KubeProxy) {
		if metrics, err := c.Metrics(t.Context(), component); err != nil || live.StartTime(metrics) == 0 {
			t.Errorf("metrics of %s: %v", component, err)
		}
	}
	golden.Must(t, c.Kill(t.Context(), clusters.Scheduler))
	golden.Must(t, c.Restart(t.Context(), clusters.Scheduler))
	hostIsReached(t, c)
}

// hostIsReached listens on the address that the nodes get for this host, and connects to it from a node.
func hostIsReached(t *testing.T, c *Cluster) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(c.HostAddress(), "0"))
	golden.Must(t, err)
	defer listener.Close()
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			_, _ = connection.Write([]byte("hello"))
			_ = connection.Close()
		}
	}()
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	out, err := c.engine.Exec(t.Context(), c.live.ControlPlane().Name, "bash", "-c", "cat < /dev/tcp/"+host+"/"+port)
	if err != nil || out != "hello" {
		t.Errorf("a node reaches this host: %q, %v", out, err)
	}
}

func createService(t *testing.T, c *Cluster, name string) error {
	t.Helper()
	_, err := c.live.Client.CoreV1().Services("default").Create(t.Context(), service(name), metav1.CreateOptions{})
	return err
}

// A component that does not know its gate ends a creation within seconds, with its own error, and nothing is left.
func TestLiveWrongGateAtCreation(t *testing.T) {
	p := onEngine(t)
	t.Parallel() // most of the time it waits
	state := resolved(t, p, clusters.State{Version: "1.34", FeatureGates: map[string]bool{"NoSuchGate": true}})
	_, err := p.Create(t.Context(), "rehearse-live-wrong", state)
	golden.Error(t, err, " does not start: ", "unrecognized feature gate: NoSuchGate")
	gone(t, p, "rehearse-live-wrong")
}

// An interrupt during any step of kind itself leaves nothing behind.
func TestLiveInterruptedCreation(t *testing.T) {
	p := onEngine(t)
	t.Parallel() // most of the time it waits
	state := resolved(t, p, clusters.State{Version: "1.34"})
	for i, message := range []string{"Ensuring node image", "Preparing nodes", "Starting control-plane"} {
		t.Run(message, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := *p
			progress := p.Progress
			p.Progress = func(format string, args ...any) {
				progress(format, args...)
				if strings.Contains(fmt.Sprintf(format, args...), message) {
					cancel()
				}
			}
			name := fmt.Sprintf("rehearse-live-interrupted-%d", i)
			c, err := p.Create(ctx, name, state)
			if err == nil {
				t.Logf("it was created before %q was said", message)
				if err := c.Delete(t.Context()); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			gone(t, &p, name)
		})
	}
}

func ptr[T any](v T) *T { return &v }
