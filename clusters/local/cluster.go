package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/local/component"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// Cluster is one local control plane.
type Cluster struct {
	*programs
	nodesKeeper
	roller

	lock     *os.File
	reserved *ports.Reservation
	rest     *rest.Config
	client   kubernetes.Interface
	dnsStart sync.Mutex
}

// programs are the processes of a cluster.
type programs struct {
	provider *Provider
	layout   layout
	probe    *prober
	// etcdProbe is for etcd, which has its own authority.
	etcdProbe *prober
	died      chan error
	// away counts the restarts of the API server in progress.
	away atomic.Int32
	// deleted: nothing may start from now on; starts is held while it is checked and something starts.
	deleted atomic.Bool
	starts  sync.RWMutex

	// predecessors of API servers that are being replaced.
	predecessors processes.Predecessors
	// changing has a lock for each name. It is held while the process of that name is started, replaced or ended, but not
	// while anybody waits until it is ready.
	changing processes.Locks
	proven   proven

	mu      sync.Mutex
	record  record
	running map[string]*processes.Process
	lives   []*life
	opened  time.Time // when this program created or opened the cluster
	logs    map[clusters.Component][]string
}

var (
	_ clusters.LastingProvider     = (*Provider)(nil)
	_ clusters.Copier              = (*Provider)(nil)
	_ clusters.Seeder              = (*Provider)(nil)
	_ clusters.Cluster             = (*Cluster)(nil)
	_ clusters.ComponentController = (*Cluster)(nil)
	_ clusters.Rolling             = (*Cluster)(nil)
	_ clusters.Rediscoverer        = (*Cluster)(nil)
	_ clusters.MetricsSource       = (*Cluster)(nil)
	_ clusters.DNSServer           = (*Cluster)(nil)
	_ clusters.ProcessRunner       = (*Cluster)(nil)
	_ clusters.UserMaker           = (*Cluster)(nil)
	_ clusters.Housed              = (*Cluster)(nil)
)

// Names of the processes that are not Kubernetes components.
const (
	etcdProcess     = "etcd"
	nodesProcess    = "nodes"
	balancerProcess = "balancer"
	dnsProcess      = "dns"
)

// Create brings up a control plane.
func (p *Provider) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	return p.createFrom(ctx, name, state, origin{})
}

// CreateSeeded brings up a control plane on an etcd that a seed has filled.
func (p *Provider) CreateSeeded(ctx context.Context, name string, state clusters.State,
	seed clusters.Seed,
) (clusters.Cluster, error) {
	return p.createFrom(ctx, name, state, origin{fill: seed.Fill})
}

func (p *Provider) createFrom(ctx context.Context, name string, state clusters.State,
	from origin,
) (clusters.Cluster, error) {
	if err := p.Sweep(ctx); err != nil {
		// Left-overs do not hinder another cluster; the next Create tries again to remove them.
		p.Progress("%v", err)
	}
	if err := p.Prepare(ctx, state); err != nil {
		return nil, err
	}
	dir, lock, err := p.folders().Claim(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := p.create(ctx, record{Record: folders.Record{Name: name, State: state}}, from, dir, lock)
	if err != nil {
		return nil, fmt.Errorf("create cluster %s (%s): %w", name, state, err)
	}
	return c, nil
}

func (p *Provider) create(ctx context.Context, r record, from origin, dir string,
	lock *os.File,
) (_ *Cluster, err error) {
	held := &ports.Reservation{}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFolder(dir))
			held.Release()
			_ = lock.Close()
		}
	}()
	if r.Ports, held, err = reservePorts(r.State.NumberOfControlPlanes()); err != nil {
		return nil, err
	}
	l := layout{Dir: dir, Ports: r.Ports}
	if err := writeCredentials(l, p.Now()); err != nil {
		return nil, err
	}
	c, err := newCluster(p, r, dir, lock)
	if err != nil {
		return nil, err
	}
	c.reserved = held
	defer func() {
		if err != nil {
			noMoreStarts(c.programs) // the folder is removed next
			c.releaseSchedulers()
		}
	}()
	if err := c.beginWith(ctx, from); err != nil {
		return nil, err
	}
	if err := c.Converge(ctx, r.State); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.record.Lasting = p.Lasting
	c.mu.Unlock()
	return c, c.save()
}

func newCluster(p *Provider, r record, dir string, lock *os.File) (*Cluster, error) {
	l := layout{Dir: dir, Ports: r.Ports}
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of cluster %s: %w", r.Name, err)
	}
	config.QPS = -1 // do not throttle a test in its own client
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", r.Name, err)
	}
	probe, err := newProber(config)
	if err != nil {
		return nil, err
	}
	etcdProbe, err := newEtcdProber(l)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a cluster of an older rehearse has none, and can only be deleted
		return nil, fmt.Errorf("cluster %s: %w", r.Name, err)
	}
	if r.Processes == nil {
		r.Processes = map[string]started{}
	}
	own := &programs{
		provider: p, layout: l, probe: probe, etcdProbe: etcdProbe, record: r, opened: p.Now(),
		died: make(chan error, 16), running: map[string]*processes.Process{}, logs: map[clusters.Component][]string{},
	}
	c := &Cluster{
		programs: own, nodesKeeper: nodesKeeper{own, client}, lock: lock, reserved: &ports.Reservation{}, rest: config,
		client: client,
	}
	c.roller = roller{
		own, schedulers{programs: own, held: map[clusters.Component]*ports.Reservation{}}, leaders{own, client},
	}
	return c, nil
}

// Folder of the cluster, with its credentials and logs.
func (c *Cluster) Folder() string { return c.layout.Dir }

// Name of the cluster.
func (c *Cluster) Name() string { return c.record.Name }

// State that the cluster is in.
func (c *Cluster) State() clusters.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record.State
}

// RESTConfig reaches the API server as an administrator.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.rest) }

// KubeconfigPath is the administrator's kubeconfig.
func (c *Cluster) KubeconfigPath() string { return c.layout.kubeconfig() }

// Died yields the components that exited unexpectedly.
func (c *programs) Died() <-chan error { return c.died }

// LogFiles returns every component's logs.
func (c *programs) LogFiles() map[clusters.Component][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.logs)
}

// Metrics reads a component's /metrics.
func (c *Cluster) Metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	component, err := c.speaker(ctx, component)
	if err != nil {
		return nil, err
	}
	return c.metrics(ctx, component)
}

// componentURL is where a component serves its health and metrics.
func (c *programs) componentURL(component clusters.Component) (string, error) {
	if component == clusters.Etcd {
		return c.layout.etcdURL(), nil
	}
	if port := c.ports().of(component); port != 0 {
		return "https://" + loopback(port), nil
	}
	return "", fmt.Errorf("this cluster has no component %s; it has etcd and %v", component, c.components())
}

// noMoreStarts forbids all starts from now on, also of a component that has just exited and would be restarted.
func noMoreStarts(c *programs) {
	c.starts.Lock()
	defer c.starts.Unlock()
	c.deleted.Store(true)
}

// Delete ends all processes and removes the folder.
func (c *Cluster) Delete(ctx context.Context) error {
	noMoreStarts(c.programs)
	c.mu.Lock()
	running := maps.Clone(c.running)
	c.mu.Unlock()
	var wg sync.WaitGroup
	errs := make(chan error, len(running))
	for _, process := range running {
		wg.Go(func() {
			err := process.Kill(ctx)
			if err == nil {
				c.noteEnded(process)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	all = append(all, removeFolder(c.layout.Dir))
	c.reserved.Release()
	c.releaseSchedulers()
	_ = c.lock.Close()
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("delete cluster %s: %w", c.Name(), err)
	}
	return nil
}

// Release releases a lasting cluster without stopping it.
func (c *Cluster) Release() { _ = c.lock.Close() }

func (c *programs) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return folders.Write(c.layout.Dir, c.record)
}

// Rediscover restarts each kube-controller-manager that runs: no signal makes it look for new kinds. One that is down
// finds them at its next start.
func (c *Cluster) Rediscover(ctx context.Context) error {
	var running []clusters.Component
	for _, instance := range c.layout.instances(clusters.ControllerManager) {
		if c.process(string(instance)) != nil {
			running = append(running, instance)
		}
	}
	if len(running) == 0 {
		return nil
	}
	if err := c.inTurn(ctx, running); err != nil {
		return err
	}
	return c.led(ctx, c.State())
}

func (c *programs) process(name string) *processes.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[name]
}

func (c *programs) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, name)
}

// start starts a process and forgets an earlier one of that name.
func (c *programs) start(name string, s started) error {
	c.starts.RLock()
	defer c.starts.RUnlock()
	if c.deleted.Load() {
		return fmt.Errorf("start %s: the cluster is being deleted", name)
	}
	process, err := c.provider.spawner.Start(processes.Spec{
		Name: name, Program: s.Program, Args: s.Args, Env: lessCollecting(), Dir: c.layout.Dir, LogDir: c.layout.logs(),
		Owner: owner(c.layout.Dir), Detached: c.provider.Lasting,
		Hostname: hostnameOf(clusters.Component(name)), SetHostname: component.OnHost(c.provider.Executable),
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.running[name] = process
	c.logs[clusters.Component(name)] = append(c.logs[clusters.Component(name)], process.LogFile)
	s.PID, s.LogFile = process.PID, process.LogFile
	c.record.Processes[name] = s
	c.lives = append(c.lives,
		&life{
			process: process,
			ProcessLife: clusters.ProcessLife{
				Component: clusters.Component(name), Version: s.Version,
				Started: c.provider.Now(),
			},
		})
	c.mu.Unlock()
	go c.watch(process)
	return c.save()
}

// watch reports a process that exits unexpectedly.
func (c *programs) watch(process *processes.Process) {
	<-process.Done()
	c.noteEnded(process)
	name := clusters.Component(process.Name)
	if process.Expected() || !isAPIServer(name) && name != etcdProcess && name != balancerProcess &&
		(c.away.Load() > 0 || lacksAPIServer(c, name)) {
		return // expected, or it has no API server: it is restarted later
	}
	if lostLease(process) && comesBack(c, process) {
		return
	}
	if c.deleted.Load() {
		return
	}
	select {
	case c.died <- process.Failure():
	default: // the channel is full: the first errors are enough
	}
}

// lessCollecting makes Go programs collect garbage half as often, for half as much memory again: garbage collection is
// a fifth of kube-apiserver's work. A GOGC in the user's own environment has priority.
func lessCollecting() []string {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return []string{"GOGC=200"}
}

func (c *programs) startEtcd() error {
	p := c.layout.Ports
	return c.start(etcdProcess, started{Program: c.provider.Executable, Args: []string{
		component.Command, "etcd", "--data-dir=" + c.layout.data(),
		"--client-url=" + c.layout.etcdURL(), "--peer-url=https://" + loopback(p.EtcdPeer),
		"--cert-file=" + c.layout.etcdPKI("server.crt"), "--key-file=" + c.layout.etcdPKI("server.key"), "--ca-file=" +
			c.layout.etcdPKI("ca.crt"),
	}})
}

// deadline for a component to become ready: far more than it needs on a busy machine.
const readyTimeout = 2 * time.Minute

// PIDs of the cluster's processes by name.
func (c *programs) PIDs() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	pids := map[string]int{}
	for name, process := range c.running {
		pids[name] = process.PID
	}
	return pids
}
