// Package local brings up control planes as processes on loopback: real etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, and simulated nodes. It needs no container engine and no privileges.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local/processes"
)

// Releases gets Kubernetes programs.
type Releases interface {
	// Resolve makes a version exact.
	Resolve(ctx context.Context, version string) (string, error)
	// Programs returns the folder that holds the named programs of an exact version, getting them first if need be.
	Programs(ctx context.Context, version string, names ...string) (string, error)
	// CheckGates says, before anything starts, which gates of a state its version would refuse.
	CheckGates(ctx context.Context, state clusters.State) error
}

// Options of a Provider.
type Options struct {
	// Root is the folder of the clusters' folders.
	Root string
	// Releases gets the Kubernetes programs.
	Releases Releases
	// Executable is the path of rehearse itself, which serves as etcd, as the nodes and as the DNS server through its
	// hidden "component" command.
	Executable string
	// Lasting clusters outlive this process.
	Lasting bool
	// Progress is told what is going on.
	Progress clusters.Progress
	// Now is the clock.
	Now func() time.Time
}

// Provider makes local control planes.
type Provider struct {
	Options
	spawner *processes.Spawner
}

// New returns a provider. Left-overs of runs that were killed are removed at the first Create.
func New(o Options) *Provider {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Provider{Options: o, spawner: processes.NewSpawner()}
}

// Name is local.
func (p *Provider) Name() string { return "local" }

// Resolve makes the state's version exact.
func (p *Provider) Resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	version, err := p.Releases.Resolve(ctx, state.Version)
	if err != nil {
		return state, err
	}
	state.Version = version
	return state, nil
}

// Check refuses states whose gates their version does not know, locks or leaves without a dependency.
func (p *Provider) Check(ctx context.Context, path []clusters.State) error {
	var errs []error
	for _, state := range path {
		errs = append(errs, p.Releases.CheckGates(ctx, state), checkComponents(state), checkNodes(state.Nodes))
	}
	return errors.Join(errs...)
}

func checkComponents(state clusters.State) error {
	var errs []error
	for _, name := range clusters.SortedKeys(state.Components) {
		switch name {
		case clusters.APIServer, clusters.ControllerManager, clusters.Scheduler:
		default:
			errs = append(errs, fmt.Errorf("component %s: a local cluster has no such component that could be configured; it has %v", name, clusters.ControlPlane()))
		}
	}
	return errors.Join(errs...)
}

// Prepare gets the programs of the state's version.
func (p *Provider) Prepare(ctx context.Context, state clusters.State) error {
	_, err := p.programs(ctx, state.Version)
	return err
}

func (p *Provider) programs(ctx context.Context, version string) (string, error) {
	names := make([]string, 0, 3)
	for _, c := range clusters.ControlPlane() {
		names = append(names, string(c))
	}
	return p.Releases.Programs(ctx, version, names...)
}

// Sweep removes what killed runs left behind.
func (p *Provider) Sweep() error {
	unlock, err := p.lockRoot()
	if err != nil {
		return err
	}
	defer unlock()
	removed, err := sweep(p.Root)
	for _, name := range removed {
		p.Progress("removed cluster %s that an interrupted run left behind", name)
	}
	return err
}

// lockRoot keeps a folder that is being made from being taken for a left-over.
func (p *Provider) lockRoot() (unlock func(), err error) {
	if err := os.MkdirAll(p.Root, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for clusters: %w", err)
	}
	file, err := os.OpenFile(p.Root+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder for clusters: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the folder for clusters: %w", err)
	}
	return func() { _ = file.Close() }, nil
}

// claim makes and locks the folder of a new cluster.
func (p *Provider) claim(name string) (string, *os.File, error) {
	unlock, err := p.lockRoot()
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	dir := filepath.Join(p.Root, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return "", nil, fmt.Errorf("cluster %q exists; delete it with: rehearse cluster delete %s", name, name)
		}
		return "", nil, fmt.Errorf("make the folder of cluster %s: %w", name, err)
	}
	lock, err := lockFolder(dir)
	return dir, lock, err
}

// Names lists the lasting clusters.
func (p *Provider) Names() ([]string, error) {
	entries, err := os.ReadDir(p.Root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if r, err := readRecord(filepath.Join(p.Root, entry.Name())); err == nil && r.Lasting {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Open returns a lasting cluster by its name; errors.Is(err, ErrNotFound) when there is none.
func (p *Provider) Open(_ context.Context, name string) (*Cluster, error) {
	dir := filepath.Join(p.Root, name)
	r, err := readRecord(dir)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(p, r, dir, lock)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	for _, name := range clusters.SortedKeys(r.Processes) {
		s := r.Processes[name]
		if process := processes.Attach(name, s.PID, s.LogFile, dir+string(filepath.Separator)); process != nil {
			c.running[name] = process
		}
	}
	return c, nil
}
