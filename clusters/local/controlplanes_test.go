package local_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// loop repeats a request until it is stopped, and counts the requests and the failures.
type loop struct {
	mu     sync.Mutex
	asked  int
	failed []string
	stop   context.CancelFunc
	done   sync.WaitGroup
}

func startLoop(t *testing.T, request func(context.Context) error) *loop {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &loop{stop: stop}
	l.done.Go(func() {
		for ctx.Err() == nil {
			err := request(ctx)
			if ctx.Err() != nil {
				return
			}
			l.mu.Lock()
			l.asked++
			if err != nil {
				l.failed = append(l.failed, err.Error())
			}
			l.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return l
}

func (l *loop) end() {
	l.stop()
	l.done.Wait()
}

// versions returns the versions of the running API servers: "1.36.3, 1.35.4 behind".
func versions(c clusters.Rolling) string {
	var all []string
	for _, s := range c.Servers() {
		text := s.Version
		if s.Behind {
			text += " behind"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// Three control planes are upgraded one after the other, with stops in between, and are rolled back, while the others
// serve: no request of client-go and no connection through the load balancer fails.
func TestControlPlanes(t *testing.T) {
	began := time.Now()
	c := clustertest.Create(t, clustertest.Local(t), "three", clusters.State{Version: "1.35", ControlPlanes: 3})
	t.Logf("ready after %s", time.Since(began))
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	old := c.State().Version
	next, err := clustertest.Local(t).Resolve(t.Context(), clusters.State{Version: "1.36"})
	golden.Must(t, err)
	leases, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).List(t.Context(),
		metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity=kube-apiserver"})
	if err != nil || len(leases.Items) != 3 && len(leases.Items) != 1 { // one if the machine allows no hostnames
		t.Errorf("%d API servers are known by a lease, %v", len(leases.Items), err)
	}

	transport, err := rest.TransportFor(c.RESTConfig())
	golden.Must(t, err)
	address := c.RESTConfig().Host
	loops := map[string]*loop{
		"client-go": startLoop(t, func(ctx context.Context) error {
			_, err := client.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
			return err
		}),
		"bare": startLoop(t, func(ctx context.Context) error { return get(ctx, transport, address) }),
		"dialing": startLoop(t, func(ctx context.Context) error {
			connection, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(address, "https://"))
			if err != nil {
				return err
			}
			return connection.Close()
		}),
	}
	up := c.State()
	up.Version = next.Version
	for _, step := range []struct {
		version string
		upTo    int
		want    string
	}{
		{next.Version, 1, fmt.Sprintf("%s, %s behind, %s behind", next.Version, old, old)},
		{next.Version, 2, fmt.Sprintf("%s, %s, %s behind", next.Version, next.Version, old)},
		{next.Version, 2, fmt.Sprintf("%s, %s, %s behind", next.Version, next.Version, old)},
		{next.Version, 0, fmt.Sprintf("%s, %s, %s", next.Version, next.Version, next.Version)},
		{old, 1, fmt.Sprintf("%s behind, %s behind, %s", next.Version, next.Version, old)},
		{old, 0, fmt.Sprintf("%s, %s, %s", old, old, old)},
	} {
		state := up
		state.Version = step.version
		began := time.Now()
		if err := c.Roll(t.Context(), state, clusters.Roll{UpTo: step.upTo}); err != nil {
			t.Fatalf("to %s, up to %d: %v", step.version, step.upTo, err)
		}
		t.Logf("to %s, up to %d: %s", step.version, step.upTo, time.Since(began))
		if got := versions(c); got != step.want {
			t.Errorf("to %s, up to %d: the API servers are %s; want %s", step.version, step.upTo, got, step.want)
		}
		for _, component := range []clusters.Component{clusters.ControllerManager, clusters.Scheduler} {
			if _, err := c.Metrics(t.Context(), component); err != nil {
				t.Errorf("to %s, up to %d: nobody speaks for %s: %v", step.version, step.upTo, component, err)
			}
		}
	}
	for _, name := range clusters.SortedKeys(loops) {
		l := loops[name]
		l.end()
		t.Logf("%s: %d of %d requests failed: %v", name, len(l.failed), l.asked, l.failed)
		if name != "bare" && len(l.failed) > 0 || l.asked == 0 {
			t.Errorf("%s: %d of %d requests failed: %v", name, len(l.failed), l.asked, l.failed)
		}
	}
	dies(t, c, client)
}

// cluster has the methods of a cluster that the function dies needs.
type cluster interface {
	clusters.Rolling
	clusters.ComponentController
	PIDs() map[string]int
}

// dies kills one of three API servers, and then all of them. The cluster serves as long as one of them runs.
func dies(t *testing.T, c cluster, client kubernetes.Interface) {
	t.Helper()
	ask := func() error {
		_, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		return err
	}
	one := clusters.APIServer.On(1)
	golden.Must(t, c.Kill(t.Context(), one))
	if err := ask(); err != nil {
		t.Errorf("two of three API servers run: %v", err)
	}
	planes := func() (numbers []int) {
		for _, s := range c.Servers() {
			numbers = append(numbers, s.Plane)
		}
		return numbers
	}
	if got := planes(); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("after %s was killed there are %v", one, got)
	}
	golden.Must(t, c.Kill(t.Context(), clusters.APIServer))
	if err := ask(); err == nil {
		t.Error("no API server runs, and one answers")
	}
	golden.Must(t, c.Restart(t.Context(), clusters.APIServer))
	if err := ask(); err != nil || len(planes()) != 3 {
		t.Errorf("after the restart: %v, %v", planes(), err)
	}
}

// get sends one request, without a client that would retry.
func get(ctx context.Context, transport http.RoundTripper, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/v1/namespaces/default/services/kubernetes",
		nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// Two API servers forward requests to one another: a resource that only one of them serves can be requested through the
// other.
func TestPeerProxy(t *testing.T) {
	const workloads = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads"
	provider := clustertest.Local(t)
	if able, err := provider.Has(t.Context(), clusters.AbilityPeerProxy, clusters.State{}); err != nil || !able {
		t.Skip("NOT RUN: this machine gives no process a hostname of its own")
	}
	state := clusters.State{
		Version: "1.36", ControlPlanes: 2, FeatureGates: map[string]bool{clusters.PeerProxyGate: true},
	}
	c := clustertest.Create(t, provider, "peers", state)
	state = c.State()
	state.FeatureGates = map[string]bool{clusters.PeerProxyGate: true, "GenericWorkload": true}
	state.RuntimeConfig = map[string]string{"scheduling.k8s.io/v1alpha2": "true"}
	golden.Must(t, c.Roll(t.Context(), state, clusters.Roll{UpTo: 1}))
	// The other one discovers its peers' resources when it starts.
	golden.Must(t, c.Restart(t.Context(), clusters.APIServer.On(1)))
	old, err := kubernetes.NewForConfig(c.Servers()[1].REST)
	golden.Must(t, err)
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	ask := func(path string, accept ...string) ([]byte, error) {
		return old.RESTClient().Get().AbsPath(path).SetHeader("Accept", accept...).Do(t.Context()).Raw()
	}
	err = wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			_, err := ask(workloads, "application/json")
			return err == nil, nil
		})
	if err != nil {
		_, why := ask(workloads, "application/json")
		t.Fatalf("what the other one serves cannot be asked for: %v", why)
	}
	for accept, want := range map[string]bool{aggregated: true, aggregated + ";profile=nopeer": false} {
		all, err := ask("/apis", accept)
		if got := strings.Contains(string(all), "workloads"); err != nil || got != want {
			t.Errorf("/apis as %s shows what the other one serves: %t, %v; want %t", accept, got, err, want)
		}
	}
}
