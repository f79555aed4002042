package simulator_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/certificates"
	"github.com/rehearse-dev/rehearse/clusters/clustertest"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/simulator"
)

// For manual runs: the version of Kubernetes, faults with which the tests should fail, and the simulator's variant.
var (
	version = flag.String("kubernetes", "1.36", "the version of Kubernetes to test on")
	faults  = flag.String("faults", "", "faults of the simulator, with commas between them")
	variant = flag.String("variant", "", "variant of the simulator")
)

func TestMain(m *testing.M) {
	component.Main()
	flag.Parse()
	os.Exit(m.Run())
}

// patience is the timeout of each wait; none is expected to take long.
const patience = 60 * time.Second

// bench is a cluster with the simulator.
type bench struct {
	cluster *local.Cluster
	options simulator.Options
	client  client.WithWatch
}

func newBench(t *testing.T) *bench {
	t.Helper()
	nodes := 3
	made := clustertest.Create(t, clustertest.Local(t), "leaderworkerset-simulator", clusters.State{
		Version:      *version,
		FeatureGates: map[string]bool{"MaxUnavailableStatefulSet": true},
		Nodes: []clusters.NodeGroup{{Count: &nodes, Capacity: map[string]string{
			"google.com/tpu": "1000", "cpu": "32",
			"memory": "256Gi", "pods": "500",
		}}},
	})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	config := rest.CopyConfig(made.RESTConfig())
	config.QPS = -1
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{cluster: made, client: c}
	b.options = simulator.Options{
		RESTConfig: made.RESTConfig(), Host: "127.0.0.1", Port: freePort(t), CertDir: servingCertificate(t),
		Variant: *variant, Logger: funcr.New(func(prefix, args string) {
			if strings.Contains(args, `"error"`) {
				fmt.Fprintln(os.Stderr, prefix, args)
			}
		}, funcr.Options{}),
	}
	if *faults != "" {
		b.options.Faults = strings.Split(*faults, ",")
	}
	return b
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func servingCertificate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	authority, err := certificates.NewAuthority(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Serving("tls", "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// simulate runs the simulator until stop is called, or the test ends.
func (b *bench) simulate(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- simulator.Run(ctx, b.options) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the simulator ended with %v", err)
		}
	}
	t.Cleanup(stop)
	b.awaitReady(t)
	return stop
}

// awaitReady waits until the simulator reports that it is ready, and the API server calls its webhooks.
func (b *bench) awaitReady(t *testing.T) {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(b.options.CertDir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	browser := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}}
	poll(t, "the simulator to be ready", func(ctx context.Context) bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/readyz",
			b.options.Port), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := browser.Do(request)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	for _, probe := range simulator.Probes() {
		poll(t, "the webhooks to be asked about a "+probe.GetKind(), func(ctx context.Context) bool {
			answer := probe.DeepCopy()
			if err := b.client.Create(ctx, answer, client.DryRunAll); err != nil {
				return false
			}
			if answer.GetKind() == "Pod" {
				return answer.GetLabels()[api.LabelGroupIndex] == "0"
			}
			_, defaulted := answer.Object["spec"].(map[string]any)["networkConfig"]
			return defaulted || len(b.options.Faults) > 0 || b.options.Variant == simulator.VariantBefore
		})
	}
}

func poll(t *testing.T, what string, done func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool,
		error,
	) {
		return done(ctx), nil
	})
	if err != nil {
		t.Fatalf("waited for %s: %v", what, err)
	}
}

// namespace creates a namespace named after the test.
func (b *bench) namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	name = strings.TrimPrefix(name, "testsimulator-")
	if err := b.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	// Pods are rejected until there is a service account.
	poll(t, "a service account", func(ctx context.Context) bool {
		return b.client.Get(ctx, client.ObjectKey{Namespace: name, Name: "default"}, &corev1.ServiceAccount{}) == nil
	})
	return name
}

// podTemplate returns the template of a pod with one container, with a TPU or without.
func podTemplate(tpus bool) corev1.PodTemplateSpec {
	container := corev1.Container{Name: "main", Image: "image"}
	if tpus {
		container.Resources.Limits = corev1.ResourceList{"google.com/tpu": *oneTPU()}
	}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "test"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
	}
}

// sortedKeys makes messages reproducible.
func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
