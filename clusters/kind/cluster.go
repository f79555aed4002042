package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/convergence"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/coredns"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/creation"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/podexec"
)

// Cluster is one kind cluster.
type Cluster struct {
	provider *Provider
	engine   *engine.Engine
	lock     *os.File
	record   *record.Record
	// live, dns and change are nil until the cluster is connected.
	live   *live.Cluster
	dns    *coredns.Server
	change *convergence.Converger
}

var (
	_ clusters.LastingProvider     = (*Provider)(nil)
	_ clusters.Cluster             = (*Cluster)(nil)
	_ clusters.ComponentController = (*Cluster)(nil)
	_ clusters.MetricsSource       = (*Cluster)(nil)
	_ clusters.DNSServer           = (*Cluster)(nil)
	_ clusters.HostReachable       = (*Cluster)(nil)
	_ clusters.Housed              = (*Cluster)(nil)
	_ clusters.PodExecutor         = (*Cluster)(nil)
	_ clusters.MethodConverger     = (*Cluster)(nil)
	_ clusters.MethodChecker       = (*Provider)(nil)
	_ clusters.Rediscoverer        = (*Cluster)(nil)
)

// maxName is the length of the longest name that kind accepts.
const maxName = 50

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// kindName turns a cluster's name into one that kind accepts.
func kindName(name string) (string, error) {
	name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if name == "" || len(name) > maxName {
		return "", fmt.Errorf("cluster name %q: kind takes 1 to %d letters, digits and dashes", name, maxName)
	}
	return name, nil
}

// Create brings up a cluster.
func (p *Provider) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	name, err := kindName(name)
	if err != nil {
		return nil, err
	}
	e, err := p.engine(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.Sweep(ctx); err != nil {
		// Left-overs do not hinder another cluster; the next Create tries again to remove them.
		p.Progress("%v", err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	image, _, err := p.source().Image(ctx, state.Version)
	if err != nil {
		return nil, err
	}
	balancer, err := p.source().BalancerImage(ctx, state)
	if err != nil {
		return nil, err
	}
	if taken, err := nodes.Taken(ctx, e, name); err != nil {
		return nil, err
	} else if taken {
		return nil, fmt.Errorf("the kind cluster %s already exists; delete it (rehearse cluster delete %s, or kind "+
			"delete cluster --name %s if rehearse did not create it)", name, name, name)
	}
	dir, lock, err := p.folders().Claim(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{provider: p, engine: e, lock: lock, record: &record.Record{Dir: dir}}
	if err := c.create(ctx, name, state, image, balancer); err != nil {
		err = fmt.Errorf("create cluster %s (%s): %w", name, state, err)
		removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodes.RemoveTimeout)
		defer cancel()
		return nil, errors.Join(err, nodes.Remove(removal, e, name, dir), lock.Close())
	}
	return c, nil
}

func (c *Cluster) create(ctx context.Context, name string, state clusters.State, image, balancer string) error {
	var err error
	if c.record, err = record.New(c.record.Dir, name, state); err != nil {
		return err
	}
	if err := c.record.UseEngine(c.engine.Program, c.engine.Endpoint(ctx)); err != nil {
		return err
	}
	by := &creation.Creator{
		Engine: c.engine, Executable: c.provider.Executable, Lock: c.lock, Progress: c.provider.Progress,
		Image: image, Balancer: balancer, Record: c.record,
	}
	live, err := by.Create(ctx)
	if err != nil {
		return err
	}
	use(c, live)
	return c.record.Created(c.provider.Lasting)
}

// connect finds the nodes of an existing cluster and makes its clients, unless it is already connected.
func (c *Cluster) connect(ctx context.Context) error {
	if c.live != nil {
		return nil
	}
	live, err := live.Find(ctx, c.engine, c.record.Name(), c.record.Dir, c.State(), c.provider.Progress)
	if err != nil {
		return err
	}
	if err := live.Reach(ctx, c.record.Kubeconfig()); err != nil {
		return err
	}
	use(c, live)
	return nil
}

// use connects a cluster: it sets live, dns and change.
func use(c *Cluster, live *live.Cluster) {
	c.live, c.dns = live, &coredns.Server{Cluster: live}
	source := c.provider.sourceIn(func(context.Context) (*engine.Engine, error) { return c.engine, nil })
	c.change = convergence.New(live, c.record, source, c.dns)
}

// Name returns the cluster's name in kind.
func (c *Cluster) Name() string { return c.record.Name() }

// State returns the state that the cluster is in.
func (c *Cluster) State() clusters.State { return c.record.State() }

// RESTConfig returns a configuration that reaches the API server as an administrator.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.live.REST) }

// KubeconfigPath returns the path of the administrator's kubeconfig. The user's own kubeconfig is never changed.
func (c *Cluster) KubeconfigPath() string { return c.record.Kubeconfig() }

// Folder returns the cluster's folder on this machine.
func (c *Cluster) Folder() string { return c.record.Dir }

// HostAddress returns the address at which the nodes reach this host. A server of a scenario must listen on it. It is
// the gateway of the nodes' own network, not of another one; "" if the nodes cannot reach this host.
func (c *Cluster) HostAddress() string { return c.live.Host.Address }

// Metrics reads a component's /metrics on the control plane that it names; if it names none, those of the component
// that leads, or of the first control plane.
func (c *Cluster) Metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c.live.Metrics(ctx, component)
}

// GatedComponents returns the components that have feature gates.
func (c *Cluster) GatedComponents() []clusters.Component { return live.Gated() }

// DNS returns the address of a server that forwards every query to the cluster's own CoreDNS.
func (c *Cluster) DNS(ctx context.Context) (string, error) {
	if err := c.connect(ctx); err != nil {
		return "", err
	}
	return c.dns.Address(ctx)
}

// ExecInPod runs a command in a container of a pod.
func (c *Cluster) ExecInPod(ctx context.Context, namespace, pod, container string, command []string, stdin io.Reader) (
	stdout, stderr []byte, exitCode int, err error,
) {
	if err := c.connect(ctx); err != nil {
		return nil, nil, 0, errors.Join(clusters.ErrNotStarted, err)
	}
	return podexec.Exec(ctx, c.live.REST, namespace, pod, container, command, stdin)
}

// Delete removes the nodes, with their volumes, and the folder.
func (c *Cluster) Delete(ctx context.Context) error {
	c.dns.Close()
	err := nodes.Remove(ctx, c.engine, c.record.Name(), c.record.Dir)
	_ = c.lock.Close()
	return err
}

// Release unlocks a lasting cluster without deleting it.
func (c *Cluster) Release() {
	c.dns.Close()
	_ = c.lock.Close()
}
