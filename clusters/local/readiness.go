package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// probeInterval is the minimal time between two checks of a starting component. The time also is at least 1/lookShare
// of the time that the component has taken so far: with a check every ten milliseconds, an API server would run all
// its checks two hundred times before they pass.
const (
	probeInterval = 10 * time.Millisecond
	lookShare     = 40
)

// prober reads the components' own endpoints as the administrator.
type prober struct {
	client *http.Client
}

func newProber(config *rest.Config) (*prober, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the components' endpoints: %w", err)
	}
	return &prober{client: client}, nil
}

// newEtcdProber reads etcd's endpoints as one of its clients.
func newEtcdProber(l layout) (*prober, error) {
	secured, err := l.etcdTLS()
	if err != nil {
		return nil, err
	}
	return &prober{client: &http.Client{Transport: &http.Transport{TLSClientConfig: secured}}}, nil
}

// get reads an endpoint of a component.
func (c *programs) get(ctx context.Context, component clusters.Component, url string) ([]byte, error) {
	if component == clusters.Etcd {
		return c.etcdProbe.get(ctx, url)
	}
	return c.probe.get(ctx, url)
}

// statusError is an answer other than 200.
type statusError struct {
	url, body string
	code      int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("GET %s: %d: %s", e.url, e.code, notOK(e.body))
}

// notOK returns the failed checks of an answer, without the dozens that passed.
func notOK(body string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(body), "\n"),
		func(line string) bool { return strings.HasPrefix(line, "[+]") && strings.HasSuffix(line, " ok") })
	return strings.Join(lines, "\n")
}

func (p *prober) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, &statusError{url: url, code: response.StatusCode, body: string(body)}
	}
	return body, nil
}

// healthPath is the path on which a component reports that it is ready.
func healthPath(component clusters.Component) string {
	switch component.Binary() {
	case clusters.APIServer, clusters.Scheduler:
		return "/readyz"
	case clusters.Etcd:
		return "/health"
	default:
		return "/healthz"
	}
}

// ready waits until a component is ready. If it exits meanwhile, the wait fails at once with its last log lines.
func (c *programs) ready(ctx context.Context, component clusters.Component) error {
	url, err := c.componentURL(component)
	if err != nil {
		return err
	}
	url += healthPath(component)
	err = c.await(ctx, component, func(ctx context.Context) (bool, error) {
		_, err := c.get(ctx, component, url)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	c.noteReady(component)
	if c.layout.several() && isAPIServer(component) {
		return c.layout.leaving().Remove(loopback(c.layout.Ports.of(component)))
	}
	return nil
}

// listening waits until an API server answers at all.
func (c *roller) listening(ctx context.Context, server clusters.Component) error {
	return c.await(ctx, server, func(ctx context.Context) (bool, error) {
		_, err := c.probe.get(ctx, "https://"+loopback(c.ports().of(server))+"/livez/ping")
		var status *statusError
		return err == nil || errors.As(err, &status), err
	})
}

// usable waits until each running API server answers a real request and Services can get addresses: readiness
// guarantees neither.
func (c *roller) usable(ctx context.Context) error {
	for _, server := range c.layout.instances(clusters.APIServer) {
		if c.layout.several() && c.process(string(server)) == nil {
			continue
		}
		if err := c.serves(ctx, server); err != nil {
			return err
		}
	}
	return nil
}

// serves waits until an API server answers with its own Service.
func (c *roller) serves(ctx context.Context, server clusters.Component) error {
	return c.await(ctx, server, func(ctx context.Context) (bool, error) {
		_, err := c.probe.get(ctx, "https://"+loopback(c.ports().of(server))+kubernetesService)
		return err == nil, err
	})
}

// kubernetesService is the path of the API server's own Service.
const kubernetesService = "/api/v1/namespaces/default/services/kubernetes"

// errNotReady ends a wait that has taken far longer than a start.
var errNotReady = errors.New("time is up")

// await repeats a check until it succeeds, the component exits, or time is up: the last two are a
// *clusters.BrokenError.
func (c *programs) await(ctx context.Context, component clusters.Component,
	look func(context.Context) (bool, error),
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, errNotReady)
	defer cancel()
	process := c.process(string(component))
	if process == nil {
		return fmt.Errorf("%s is not running", component)
	}
	if err := c.predecessors.Await(string(component)); err != nil {
		return err
	}
	began := time.Now()
	last := errors.New("nothing yet")
	for {
		ok, err := look(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-process.Done():
			return brokenBy(component, process, process.Failure())
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errNotReady) {
				return fmt.Errorf("wait for %s: %w (last error: %w; its log: %s)", component, cause, last, process.LogFile)
			}
			return brokenBy(component, process,
				fmt.Errorf("%s is not ready after %s: %w; its log: %s", component, readyTimeout, last, process.LogFile))
		case <-time.After(max(probeInterval, time.Since(began)/lookShare)):
		}
	}
}

// brokenBy describes what is wrong with a component by its own log.
func brokenBy(component clusters.Component, process *processes.Process, err error) error {
	culprit, _ := component.Plane()
	return &clusters.BrokenError{
		Component: culprit, Words: err.Error() + "\n" + processes.LastLines(process.LogFile, lastWords), Err: err,
	}
}

// lastWords is how many log lines of a broken component are quoted.
const lastWords = 30
