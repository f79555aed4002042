package harness_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// provider makes clusters that are API servers in memory.
type provider struct {
	t testing.TB
	// check, create and converge can return errors.
	check    func(path []clusters.State) error
	create   func(ctx context.Context) error
	converge func(ctx context.Context, state clusters.State) error
	// metrics and dns are the metrics and the DNS address of the clusters.
	metrics func() (string, error)
	dns     string
	// needs are the dependencies of feature gates.
	needs map[string][]string
	// rejectSnapshots is the error of every snapshot.
	rejectSnapshots error
	// exec returns the result of a program in a pod.
	exec func(call int, pod string, command []string) (stdout, stderr string, code int, err error)
	// restart restarts a component; nil if that does not work.
	restart func(context.Context, *cluster) error
	// serves are further kinds that the clusters serve.
	serves []apitest.Kind
	// restoring runs before a snapshot is put back.
	restoring func(context.Context, *cluster) error
	// misbehave decides which requests the clusters' API servers answer with a fault.
	misbehave func(apitest.Request) *apitest.Fault

	mu       sync.Mutex
	clusters []*cluster
}

func (*provider) Name() string { return "fake" }

func (*provider) Has(context.Context, clusters.Ability, clusters.State) (bool, error) {
	return true, nil
}

func (p *provider) Check(_ context.Context, path []clusters.State) error {
	if p.check == nil {
		return nil
	}
	return p.check(path)
}

func (*provider) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	if state.Version == "9.9" {
		return state, errors.New("Kubernetes 9.9 can't be had")
	}
	if strings.Count(state.Version, ".") == 1 {
		state.Version += ".4"
	}
	return state, nil
}

func (p *provider) GateDependencies(_ context.Context, _ clusters.State, gate string) []string {
	return p.needs[gate]
}

func (p *provider) BlameForField(_ context.Context, _ clusters.State, kind string, path []any) string {
	return fmt.Sprintf("a gate decides about %s of %s", path[len(path)-1], kind)
}

func (*provider) Prepare(context.Context, clusters.State) error { return nil }

func (p *provider) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	if p.create != nil {
		if err := p.create(ctx); err != nil {
			return nil, err
		}
	}
	c := &cluster{provider: p, name: name, state: state, server: apitest.New(p.t, p.serves...), died: make(chan error, 1)}
	c.server.Misbehave(p.misbehave)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clusters = append(p.clusters, c)
	return c, nil
}

// cluster is a cluster of the fake provider.
type cluster struct {
	provider *provider
	name     string
	server   *apitest.Server
	died     chan error

	mu        sync.Mutex
	state     clusters.State
	converged []string
	deleted   bool
	killed    []clusters.Component
	snapshots map[string]func()
	execs     int
	// restore puts back the objects that were stored before a transition.
	restore func()
}

func (c *cluster) Name() string             { return c.name }
func (c *cluster) State() clusters.State    { return c.state }
func (c *cluster) RESTConfig() *rest.Config { return c.server.Config() }
func (*cluster) KubeconfigPath() string     { return "the-kubeconfig" }
func (c *cluster) Died() <-chan error       { return c.died }

func (*cluster) LogFiles() map[clusters.Component][]string { return nil }
func (*cluster) ProcessLives() []clusters.ProcessLife      { return nil }

func (c *cluster) Converge(ctx context.Context, state clusters.State) error {
	if c.provider.converge != nil {
		if err := c.provider.converge(ctx, state); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.converged = append(c.converged, state.String())
	return nil
}

func (c *cluster) Collect(_ context.Context, dir string) error {
	return os.WriteFile(filepath.Join(dir, "collected"), nil, 0o600)
}

func (c *cluster) Delete(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted = true
	return ctx.Err()
}

func (c *cluster) Kill(_ context.Context, component clusters.Component) error {
	c.killed = append(c.killed, component)
	return nil
}

func (c *cluster) Metrics(context.Context, clusters.Component) ([]byte, error) {
	if c.provider.metrics == nil {
		return nil, errors.New("there are no metrics")
	}
	text, err := c.provider.metrics()
	return []byte(text), err
}

func (c *cluster) DNS(context.Context) (string, error) { return c.provider.dns, nil }

func (c *cluster) Snapshot(_ context.Context, name string) error {
	if c.snapshots == nil {
		c.snapshots = map[string]func(){}
	}
	c.snapshots[name] = c.server.Snapshot()
	return c.provider.rejectSnapshots
}

func (c *cluster) Restore(ctx context.Context, name string) error {
	if c.provider.restoring != nil {
		if err := c.provider.restoring(ctx, c); err != nil {
			return err
		}
	}
	c.snapshots[name]()
	c.server.BreakWatches() // watches must begin again with a list
	return nil
}

func (c *cluster) ExecInPod(_ context.Context, namespace, pod, _ string, command []string, _ io.Reader) (stdout,
	stderr []byte, exitCode int, err error,
) {
	c.execs++
	out, said, code, err := c.provider.exec(c.execs, namespace+"/"+pod, command)
	return []byte(out), []byte(said), code, err
}

func (c *cluster) ConvergeBy(ctx context.Context, state clusters.State, method string) error {
	c.converged = append(c.converged, "by "+method)
	return c.Converge(ctx, state)
}

// methodical is a provider whose clusters support a transition method, but only upwards.
type methodical struct{ provider }

func (*methodical) CheckMethod(from, to clusters.State, method string) error {
	if to.Version < from.Version {
		return fmt.Errorf("%s does not go down", method)
	}
	return nil
}

func (c *cluster) Restart(ctx context.Context, _ clusters.Component) error {
	if c.provider.restart == nil {
		return errors.New("it will not")
	}
	return c.provider.restart(ctx, c)
}

func load(t testing.TB, text string) []*scenarios.Scenario {
	t.Helper()
	set, err := scenarios.LoadBytes("test.yaml", []byte(text))
	golden.Must(t, err)
	return set.Scenarios
}

// scenario returns a document with these steps, on a cluster of 1.34.
func scenario(name, steps string, spec ...string) string {
	document := "---\napiVersion: rehearse.dev/v1alpha1\nkind: Scenario\nmetadata: {name: " + name +
		"}\nspec:\n  cluster: {version: \"1.34\"}\n"
	for _, line := range spec {
		document += "  " + line + "\n"
	}
	return document + "  steps:\n" + steps
}

func makeMap(name string) string {
	return fmt.Sprintf("  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"%s\"}, data: {x: \"1\"}}\n", name)
}

func transition(version string) string {
	return fmt.Sprintf("  - transition: {version: %q}\n", version)
}

// fails is a step that fails at once: its object does not exist.
const fails = "  - name: broken\n    delete: {apiVersion: v1, kind: ConfigMap, name: nothing}\n"

// fake is a provider, or a type that embeds it.
type fake interface {
	clusters.Provider
	of(t testing.TB)
}

func (p *provider) of(t testing.TB) { p.t = t }

// planned is the plan of a set.
func planned(t *testing.T, p clusters.Provider, text string, o harness.PlanOptions) *harness.Plan {
	t.Helper()
	plan, err := harness.NewPlan(t.Context(), p, load(t, text), o)
	golden.Must(t, err)
	return plan
}

// execute runs a set and returns its results.
func execute(ctx context.Context, t *testing.T, p fake, text string, o harness.Options) (*reports.Run, error) {
	t.Helper()
	p.of(t)
	plan := planned(t, p, text, harness.PlanOptions{})
	o.Recorder = reports.NewRecorder(plan.Result(), clock.RealClock{})
	err := harness.Execute(ctx, plan, o)
	return o.Recorder.Run(), err
}

// executed returns the results of a plan that must run to its end.
func executed(t *testing.T, plan *harness.Plan, o harness.Options) *reports.Run {
	t.Helper()
	o.Recorder = reports.NewRecorder(plan.Result(), clock.RealClock{})
	golden.Must(t, harness.Execute(t.Context(), plan, o))
	return o.Recorder.Run()
}

// ran returns the results of a set that must run to its end.
func ran(t *testing.T, p fake, text string, o harness.Options) *reports.Run {
	t.Helper()
	p.of(t)
	return executed(t, planned(t, p, text, harness.PlanOptions{}), o)
}

func find(t *testing.T, run *reports.Run, name string) *reports.Scenario {
	t.Helper()
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if s.Name == name {
				return s
			}
		}
	}
	t.Fatalf("no scenario %q", name)
	return nil
}

func statuses(steps []*reports.Step) string {
	var all []string
	for _, step := range steps {
		all = append(all, string(step.Status))
	}
	return strings.Join(all, " ")
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	if i := slices.IndexFunc(parts, func(part string) bool { return !strings.Contains(text, part) }); i >= 0 {
		t.Errorf("no %q in:\n%s", parts[i], text)
	}
}
