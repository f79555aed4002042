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
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/clusters/schedulerconfig"
)

// Releases gets Kubernetes programs, and knows their feature gates.
type Releases interface {
	Resolve(ctx context.Context, version string) (string, error)
	Ensure(ctx context.Context, version string, programs ...string) (releases.Binaries, error)
	FeatureList(ctx context.Context, version string) (*features.List, error)
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
	spawner  *processes.Spawner
	profiles schedulerconfig.Checker
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
	if state.Version == "" {
		return state, errors.New("a local cluster needs a version: cluster: {version: \"1.35\"}")
	}
	version, err := p.Releases.Resolve(ctx, state.Version)
	if err != nil {
		return state, err
	}
	state.Version = version
	return state, nil
}

// Check refuses states whose gates their version does not know, locks or leaves without a dependency, and whose scheduler profiles
// their version's kube-scheduler would not take.
func (p *Provider) Check(ctx context.Context, path []clusters.State) error {
	var errs []error
	for _, state := range path {
		gates := p.checkGates(ctx, state)
		if gates == nil { // with wrong gates kube-scheduler would speak of them alone
			errs = append(errs, p.checkProfiles(ctx, state))
		}
		errs = append(errs, gates, checkComponents(state), checkNodes(state.Nodes), checkSystems(state.Systems))
		errs = append(errs, state.CheckSchedulers()...)
	}
	return errors.Join(errs...)
}

func (p *Provider) checkGates(ctx context.Context, state clusters.State) error {
	list, err := p.Releases.FeatureList(ctx, state.Version)
	var unknown *releases.NoFeatureListError
	if errors.As(err, &unknown) {
		p.Progress("feature gates not checked: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	version, err := clusters.ParseVersion(state.Version)
	if err != nil {
		return err
	}
	var errs []error
	told := map[string]bool{}
	for _, component := range state.ControlPlane() {
		for _, problem := range list.Check(version, component.Binary(), state.Gates(component)) {
			if !told[problem.Message] {
				told[problem.Message] = true
				errs = append(errs, errors.New(problem.Message))
			}
		}
	}
	return errors.Join(errs...)
}

// checkProfiles needs the version's kube-scheduler, which the run would need anyway.
func (p *Provider) checkProfiles(ctx context.Context, state clusters.State) error {
	if len(state.SchedulerProfiles) == 0 && len(state.Schedulers) == 0 {
		return nil
	}
	scheduler := string(clusters.Scheduler)
	programs, err := p.Releases.Ensure(ctx, state.Version, scheduler)
	if err != nil {
		return fmt.Errorf("get the kube-scheduler that schedulerProfiles are checked with: %w", err)
	}
	return p.profiles.Check(ctx, programs.Path(scheduler), state)
}

func checkComponents(state clusters.State) error {
	var errs []error
	for _, name := range clusters.SortedKeys(state.Components) {
		switch name.Binary() {
		case clusters.APIServer, clusters.ControllerManager, clusters.Scheduler:
		default:
			errs = append(errs, fmt.Errorf("component %s: a local cluster has no such component that could be configured; it has %v", name, clusters.ControlPlane()))
		}
	}
	return errors.Join(errs...)
}

// checkSystems refuses what only nodes that run pods can have.
func checkSystems(systems []clusters.System) error {
	var errs []error
	for _, system := range systems {
		if system.Kind() == "manifests" {
			errs = append(errs, fmt.Errorf("system %s: a local cluster's nodes are simulated and run no pods; give it as a process, or use --provider kind or existing", system.Name))
		}
	}
	return errors.Join(errs...)
}

// Prepare gets the programs of the state's version.
func (p *Provider) Prepare(ctx context.Context, state clusters.State) error {
	_, err := p.programs(ctx, state.Version)
	return err
}

func (p *Provider) programs(ctx context.Context, version string) (releases.Binaries, error) {
	names := make([]string, 0, 3)
	for _, c := range clusters.ControlPlane() {
		names = append(names, string(c))
	}
	return p.Releases.Ensure(ctx, version, names...)
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

// Description is what is known of a lasting cluster without touching it.
type Description struct {
	State clusters.State
	// Running are the names of its processes that live.
	Running []string
	// Kubeconfig is the administrator's.
	Kubeconfig string
}

// Describe looks at a lasting cluster; errors.Is(err, ErrNotFound) when there is none.
func (p *Provider) Describe(name string) (Description, error) {
	dir := filepath.Join(p.Root, name)
	r, err := readRecord(dir)
	if err != nil {
		return Description{}, err
	}
	d := Description{State: r.State, Kubeconfig: layout{Dir: dir}.kubeconfig()}
	for _, process := range clusters.SortedKeys(r.Processes) {
		if processes.Alive(r.Processes[process].PID, dir+string(filepath.Separator)) {
			d.Running = append(d.Running, process)
		}
	}
	return d, nil
}

// Prototype shows what its clusters can do.
func (p *Provider) Prototype() clusters.Cluster { return (*Cluster)(nil) }
