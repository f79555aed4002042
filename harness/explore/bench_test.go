package explore

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// tape records the requests of a growth.
type tape struct {
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func (p *tape) wrap(next http.RoundTripper) http.RoundTripper { return recording{p, next} }

type recording struct {
	*tape
	next http.RoundTripper
}

func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Has("dryRun") {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		r.mu.Lock()
		r.requests, r.bodies = append(r.requests, request), append(r.bodies, body)
		r.mu.Unlock()
	}
	return r.next.RoundTrip(request)
}

// replay sends the same requests with a plain HTTP client and the same concurrency, and reads each answer completely.
func (p *tape) replay(b *testing.B, config *rest.Config, atOnce int) time.Duration {
	b.Helper()
	client, err := rest.HTTPClientFor(config)
	golden.Must(b, err)
	began := time.Now()
	var working errgroup.Group
	working.SetLimit(atOnce)
	for i, recorded := range p.requests {
		working.Go(func() error {
			request, err := http.NewRequestWithContext(b.Context(), recorded.Method, recorded.URL.String(),
				bytes.NewReader(p.bodies[i]))
			if err != nil {
				return err
			}
			for _, name := range []string{"Content-Type", "Accept"} {
				request.Header.Set(name, recorded.Header.Get(name))
			}
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, response.Body)
			return errors.Join(err, response.Body.Close())
		})
	}
	golden.Must(b, working.Wait())
	return time.Since(began)
}

// benchedKinds are kinds with small and with large objects.
func benchedKinds() []string {
	return []string{"Pod", "Service", "Ingress", "PersistentVolume"}
}

// timeGrowth grows the kinds and returns how long that took.
func (e *exploration) timeGrowth(b *testing.B, config *rest.Config, kinds []*fields.Kind) time.Duration {
	b.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(writes.Configure(config, userAgent))
	golden.Must(b, err)
	began := time.Now()
	client := growth.NewClient(found.RESTClient(), e.Workers)
	if _, err := growth.All(b.Context(), growth.Options{Client: client, Kinds: kinds, Progress: b.Logf}); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// BenchmarkGrowth compares the time of a growth's dry runs with that of a plain client that sends the same requests.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		provider := clustertest.Local(b)
		cluster := clustertest.Create(b, provider, "growth", clusters.State{Version: "1.36"})
		e := &exploration{Options: Options{Kinds: benchedKinds(), Workers: 16, Progress: b.Logf}}
		_, found, err := e.ready(b.Context(), cluster)
		golden.Must(b, err)
		kinds := slices.DeleteFunc(found.Kinds, func(k *fields.Kind) bool { return !e.wanted(k) })
		e.timeGrowth(b, cluster.RESTConfig(), kinds) // not measured: the API server is still busy with its start
		recorded := &tape{}
		config := cluster.RESTConfig()
		config.Wrap(recorded.wrap)
		grew := e.timeGrowth(b, config, kinds)
		bare := recorded.replay(b, rest.CopyConfig(cluster.RESTConfig()), e.Workers)
		n := float64(len(recorded.requests))
		b.ReportMetric(n, "dry-runs")
		b.ReportMetric(n/grew.Seconds(), "growth/s")
		b.ReportMetric(n/bare.Seconds(), "bare/s")
		b.ReportMetric(grew.Seconds()/bare.Seconds(), "growth/bare")
	}
}
