package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/cluster/constants"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// Cluster is one kind cluster.
type Cluster struct {
	provider *Provider
	engine   *engine.Engine
	dir      string
	lock     *os.File
	nodes    []node
	rest     *rest.Config
	client   kubernetes.Interface
	api      *apiServer
	gateway  string
	dns      dnsProxy

	mu     sync.Mutex
	record record
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

// maxName is how long kind lets a name be.
const maxName = 50

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// kindName makes of a cluster's name one that kind takes.
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
		// What cannot be removed does not stand in the way of another cluster; the next Create tries again.
		p.Progress("%v", err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	image, _, err := p.image(ctx, state.Version)
	if err != nil {
		return nil, err
	}
	balancer, err := p.balancerImage(ctx, state)
	if err != nil {
		return nil, err
	}
	if taken, err := isTaken(ctx, e, name); err != nil {
		return nil, err
	} else if taken {
		return nil, fmt.Errorf("there is a kind cluster %s already; delete it (rehearse cluster delete %s, or kind delete cluster --name %s if it is not ours)", name, name, name)
	}
	dir, lock, err := p.folders().Claim(name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{provider: p, engine: e, dir: dir, lock: lock, record: record{Record: folders.Record{Name: name, State: state}}}
	if err := c.create(ctx, image, balancer); err != nil {
		err = fmt.Errorf("create cluster %s (%s): %w", name, state, err)
		return nil, errors.Join(err, c.Delete(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *Cluster) create(ctx context.Context, image, balancer string) error {
	c.record.Ours = map[clusters.Component]map[string]*string{}
	for _, component := range append(clusters.ControlPlane(), clusters.Kubelet) {
		c.record.Ours[component] = replacedAtCreation(component, c.record.State)
	}
	if err := c.save(); err != nil {
		return err
	}
	if err := writeNodeFiles(filepath.Join(c.dir, nodeFilesDir), c.record.State); err != nil {
		return err
	}
	revision, err := schedulerRevision(c.record.State)
	if err != nil {
		return err
	}
	c.record.CreationRevision = revision
	config, err := Config(c.record.State, image, filepath.Join(c.dir, nodeFilesDir))
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(c.dir, configFile), string(config)); err != nil {
		return err
	}
	if warning := inotifyWarning(c.record.State, inotifyLimit); warning != "" {
		c.provider.Progress("kind cluster %s: %s", c.record.Name, warning)
	}
	if err := c.runKind(ctx, config, balancer); err != nil {
		return err
	}
	if err := c.findNodes(ctx); err != nil {
		return err
	}
	if err := c.elevate(ctx); err != nil {
		return err
	}
	if err := c.makeClients(ctx); err != nil {
		return err
	}
	if err := c.connectPods(ctx); err != nil {
		return err
	}
	waiting, waitingCtx := errgroup.WithContext(ctx)
	waiting.Go(func() error { return c.usable(waitingCtx, c.record.State) })
	waiting.Go(func() error { return c.prove(waitingCtx, c.record.State) })
	if err := waiting.Wait(); err != nil {
		return err
	}
	if err := c.advertise(ctx, c.record.State.Nodes); err != nil {
		return err
	}
	c.mu.Lock()
	c.record.Lasting = c.provider.Lasting
	c.mu.Unlock()
	return c.save()
}

// connect finds the nodes and makes the clients of a cluster that kind has made, unless that is done.
func (c *Cluster) connect(ctx context.Context) error {
	if c.client != nil {
		return nil
	}
	if err := c.findNodes(ctx); err != nil {
		return err
	}
	return c.makeClients(ctx)
}

// findNodes finds the cluster's containers, the control plane's first.
func (c *Cluster) findNodes(ctx context.Context) error {
	containers, err := ownContainers(ctx, c.engine, c.record.Name, c.dir)
	if err != nil {
		return err
	}
	c.nodes = nil
	for _, container := range containers {
		if container.role != balancerRole {
			c.nodes = append(c.nodes, node{engine: c.engine, name: container.name, controlPlane: container.role == constants.ControlPlaneNodeRoleValue})
		}
	}
	sortNodes(c.nodes)
	if err := nameNodes(c.nodes, c.record.State.Nodes); err != nil {
		return fmt.Errorf("cluster %s: %w", c.record.Name, err)
	}
	if len(c.nodes) == 0 || !c.nodes[0].controlPlane {
		return fmt.Errorf("cluster %s has no control plane node", c.record.Name)
	}
	if have, want := len(c.controlPlanes()), c.record.State.NumberOfControlPlanes(); have != want {
		return fmt.Errorf("cluster %s has %d of its %d control planes", c.record.Name, have, want)
	}
	c.gateway, err = c.findGateway(ctx)
	return err
}

func (c *Cluster) makeClients(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigPath())
	if err != nil {
		return fmt.Errorf("read the kubeconfig of cluster %s: %w", c.record.Name, err)
	}
	config.QPS = -1 // a test is not to be throttled by its own client
	c.rest = config
	if c.api, err = newAPIServer(config); err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", c.record.Name, err)
	}
	if err := c.findAPIServers(ctx); err != nil {
		return fmt.Errorf("find the API servers of cluster %s: %w", c.record.Name, err)
	}
	c.client = c.api.client
	return nil
}

// Name of the cluster, as kind has it.
func (c *Cluster) Name() string { return c.record.Name }

// State that the cluster is in.
func (c *Cluster) State() clusters.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record.State
}

// RESTConfig reaches the API server as an administrator.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.rest) }

// KubeconfigPath is the administrator's kubeconfig. The user's own is never touched.
func (c *Cluster) KubeconfigPath() string { return filepath.Join(c.dir, kubeconfigFile) }

// Folder is the cluster's own on this machine.
func (c *Cluster) Folder() string { return c.dir }

// Delete removes the nodes, with their volumes, and the folder.
func (c *Cluster) Delete(ctx context.Context) error {
	c.dns.close()
	err := removeCluster(ctx, c.engine, c.record.Name, c.dir)
	_ = c.lock.Close()
	return err
}

// Release lets go of a lasting cluster without ending it.
func (c *Cluster) Release() {
	c.dns.close()
	_ = c.lock.Close()
}

func (c *Cluster) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return folders.Write(c.dir, c.record)
}
