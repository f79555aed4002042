// Package local runs control planes as processes on loopback: real etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, and simulated nodes. It needs no container engine and no privileges.
package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/clusters/schedulerconfig"
)

// Releases provides Kubernetes programs and the lists of their feature gates.
type Releases interface {
	Resolve(ctx context.Context, version string) (string, error)
	Ensure(ctx context.Context, version string, programs ...string) (releases.Binaries, error)
	FeatureList(ctx context.Context, version string) (*features.List, error)
}

// Options of a Provider.
type Options struct {
	// Root is the folder that contains the folders of the clusters.
	Root string
	// Releases provides the Kubernetes programs.
	Releases Releases
	// Executable is the path of rehearse itself. Its hidden "component" command runs etcd, the nodes and the DNS server.
	Executable string
	// Lasting: the clusters continue to run after this process has ended.
	Lasting bool
	// Progress receives progress messages.
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

// New returns a provider. Each Create first removes the clusters that killed runs have left behind.
func New(o Options) *Provider {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Provider{Options: o, spawner: processes.NewSpawner()}
}

// Name returns "local".
func (p *Provider) Name() string { return "local" }

// Resolve replaces the versions in a state by exact ones.
func (p *Provider) Resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	if state.Version == "" {
		return state, errors.New("a local cluster needs a Kubernetes version, such as 1.35")
	}
	version, err := p.Releases.Resolve(ctx, state.Version)
	if err != nil {
		return state, err
	}
	state.Version = version
	return state.ResolveOwnVersions(func(own string) (string, error) { return p.Releases.Resolve(ctx, own) })
}

// Check returns an error if a state of the path is invalid. Among others, it rejects gates that the version does not
// know or has locked, gates that lack a dependency, and scheduler profiles that the version's kube-scheduler would
// reject.
func (p *Provider) Check(ctx context.Context, path []clusters.State) error {
	var errs []error
	for _, state := range path {
		wrong := errors.Join(releases.CheckGates(ctx, p.Releases, state, state.ControlPlane(), p.Progress),
			checkComponents(state), clusters.CheckNodes(state.Nodes), checkSystems(state.Systems),
			clusters.CheckControlPlanes(state.ControlPlanes), state.CheckEmulation(), p.checkPeers(state),
			errors.Join(state.CheckSchedulers()...), errors.Join(state.CheckOwnVersions()...))
		if wrong == nil { // it may have to build kube-scheduler, which would report only the wrong gates
			wrong = p.checkProfiles(ctx, state)
		}
		errs = append(errs, wrong)
	}
	return errors.Join(errs...)
}

// GateDependencies are the gates that a gate requires.
func (p *Provider) GateDependencies(ctx context.Context, state clusters.State, gate string) []string {
	return releases.GateDependencies(ctx, p.Releases, state, gate)
}

// BlameForField returns the gate that is the most likely reason why a field was dropped.
func (p *Provider) BlameForField(ctx context.Context, state clusters.State, kind string, path []any) string {
	return releases.BlameForField(ctx, p.Releases, state, kind, path)
}

// checkProfiles checks the scheduler profiles with each scheduler's own program, which the run needs anyway.
func (p *Provider) checkProfiles(ctx context.Context, state clusters.State) error {
	if len(state.SchedulerProfiles) == 0 && len(state.Schedulers) == 0 {
		return nil
	}
	return p.profiles.Check(ctx, func(version string) (string, error) {
		scheduler := string(clusters.Scheduler)
		programs, err := p.Releases.Ensure(ctx, version, scheduler)
		if err != nil {
			return "", fmt.Errorf("get the kube-scheduler that checks schedulerProfiles: %w", err)
		}
		return programs.Path(scheduler), nil
	}, state)
}

func checkComponents(state clusters.State) error {
	var errs []error
	for _, name := range clusters.SortedKeys(state.Components) {
		switch name.Binary() {
		case clusters.APIServer, clusters.ControllerManager, clusters.Scheduler:
		default:
			errs = append(errs,
				fmt.Errorf("component %s: a local cluster has no such configurable component; it has %v", name,
					clusters.ControlPlane()))
		}
	}
	return errors.Join(errs...)
}

// checkSystems rejects systems that run as pods, because the simulated nodes run no pods.
func checkSystems(systems []clusters.System) error {
	var errs []error
	for _, system := range systems {
		if system.Kind() == "manifests" {
			errs = append(errs,
				fmt.Errorf("system %s: a local cluster's nodes are simulated and run no pods; define it as a process, or use "+
					"--provider kind or existing", system.Name))
		}
	}
	return errors.Join(errs...)
}

// Prepare gets the programs of the state.
func (p *Provider) Prepare(ctx context.Context, state clusters.State) error {
	_, err := p.programs(ctx, state)
	return err
}

// programsOf maps each version in a state to its programs.
type programsOf map[string]releases.Binaries

// start is how a component is started in a state, except for its configuration file.
func (p programsOf) start(state clusters.State, c clusters.Component, l layout) (started, error) {
	programs, name := p[state.VersionOf(c)], string(c.Binary())
	build, err := programs.Build(name)
	return started{
		Program: programs.Path(name), Version: state.VersionOf(c), Build: build, Args: arguments(c, l, state),
	}, err
}

func (p *Provider) programs(ctx context.Context, state clusters.State) (programsOf, error) {
	names := map[string][]string{}
	for _, c := range append(clusters.ControlPlane(), state.ControlPlane()...) {
		version := state.VersionOf(c)
		if !slices.Contains(names[version], string(c.Binary())) {
			names[version] = append(names[version], string(c.Binary()))
		}
	}
	all := programsOf{}
	for _, version := range clusters.SortedKeys(names) {
		programs, err := p.Releases.Ensure(ctx, version, names[version]...)
		if err != nil {
			return nil, err
		}
		all[version] = programs
	}
	return all, nil
}

// Sweep removes the clusters that killed runs have left behind.
func (p *Provider) Sweep(ctx context.Context) error {
	removed, err := p.folders().Sweep(ctx, func(_, dir string) error { return removeFolder(dir) })
	for _, name := range removed {
		p.Progress("removed cluster %s that an interrupted run left behind", name)
	}
	return err
}

func (p *Provider) folders() folders.Root { return folders.Root(p.Root) }

// Names returns the names of the lasting clusters.
func (p *Provider) Names() ([]string, error) { return p.folders().Lasting() }

// Open opens the lasting cluster with that name.
func (p *Provider) Open(_ context.Context, name string) (clusters.LastingCluster, error) {
	dir := filepath.Join(p.Root, name)
	var r record
	lock, err := folders.Open(dir, &r)
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
		process, err := processes.Attach(name, s.PID, s.LogFile, owner(dir))
		if err != nil {
			_ = lock.Close()
			return nil, fmt.Errorf("open cluster %s: %w", c.Name(), err)
		}
		if process != nil {
			c.running[name] = process
		}
	}
	return c, nil
}

// Describe describes a lasting cluster from its record.
func (p *Provider) Describe(_ context.Context, name string) (clusters.Description, error) {
	dir := filepath.Join(p.Root, name)
	var r record
	if err := folders.Read(dir, &r); err != nil {
		return clusters.Description{}, err
	}
	d := clusters.Description{State: r.State, Kubeconfig: layout{Dir: dir}.kubeconfig()}
	for _, process := range clusters.SortedKeys(r.Processes) {
		if processes.Alive(r.Processes[process].PID, owner(dir)) {
			d.Running = append(d.Running, process)
		}
	}
	return d, nil
}
