// Package kind creates clusters of real nodes in containers, with kind, and changes their gates, flags, scheduler
// profiles and Kubernetes version in place, up and down.
package kind

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Releases provides the patches of Kubernetes' minor versions, and the feature gates of a version.
type Releases interface {
	Resolve(ctx context.Context, version string) (string, error)
	FeatureList(ctx context.Context, version string) (*features.List, error)
}

// Options of a Provider.
type Options struct {
	// CacheDir holds the clusters' folders and the files that are copied from node images.
	CacheDir string
	// Releases provides Kubernetes' versions.
	Releases Releases
	// Images chooses the node image of a version.
	Images images.NodeImages
	// Executable is the program that is run again if kind must make a cluster with a load balancer that is not kind's
	// own. It must call Main first.
	Executable string
	// Lasting clusters outlive this process.
	Lasting bool
	// Progress receives progress messages. Optional.
	Progress clusters.Progress
}

// Provider makes kind clusters.
type Provider struct {
	Options

	// Root is the folder that contains the clusters' folders.
	Root   string
	engine func(context.Context) (*engine.Engine, error)
	// notLookedUp reports only once that there is no engine: a plan resolves the version of every state.
	notLookedUp *sync.Once
}

// New returns a provider; it changes nothing yet. The first Create removes left-overs of killed runs.
func New(o Options) *Provider {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Provider{
		Options: o, Root: filepath.Join(o.CacheDir, "kind", "clusters"), engine: once(engine.Detect),
		notLookedUp: new(sync.Once),
	}
}

// once caches the engine that detect finds; it does not cache an error.
func once(detect func(context.Context) (*engine.Engine, error)) func(context.Context) (*engine.Engine, error) {
	var mu sync.Mutex
	var found *engine.Engine
	return func(ctx context.Context) (*engine.Engine, error) {
		mu.Lock()
		defer mu.Unlock()
		if found != nil {
			return found, nil
		}
		e, err := detect(ctx)
		if err == nil {
			found = e
		}
		return e, err
	}
}

// Name returns "kind".
func (p *Provider) Name() string { return "kind" }

// Resolve makes the state's version exact: the newest patch for which there is a node image.
func (p *Provider) Resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	if state.Version == "" {
		return state, errors.New("a kind cluster needs a Kubernetes version, such as 1.35")
	}
	v, err := clusters.ParseVersion(state.Version)
	if err != nil {
		return state, err
	}
	if !v.Exact() {
		if v, err = p.newest(ctx, v); err != nil {
			return state, err
		}
	}
	state.Version = v.String()
	return state, nil
}

func (p *Provider) newest(ctx context.Context, minor clusters.Version) (clusters.Version, error) {
	e, err := p.engine(ctx)
	if err == nil {
		return p.Images.Newest(ctx, e, p.Releases, minor)
	}
	// A plan needs no engine.
	p.notLookedUp.Do(func() { p.Progress("node images not looked up: %v", err) })
	text, err := p.Releases.Resolve(ctx, minor.String())
	if err != nil {
		return minor, err
	}
	return clusters.ParseVersion(text)
}

// Check rejects states and changes that a kind cluster does not support.
func (p *Provider) Check(ctx context.Context, path []clusters.State) error {
	var errs []error
	for i, state := range path {
		errs = append(errs, releases.CheckGates(ctx, p.Releases, state, live.Gated(), p.Progress), checkComponents(state),
			clusters.CheckNodes(state.Nodes), checkCapacity(state.Nodes), checkSchedulers(state),
			clusters.CheckEtcdMembers(state.ControlPlanes), checkEmulation(state))
		if i > 0 {
			errs = append(errs, checkStep(path[i-1], state))
		}
	}
	return errors.Join(errs...)
}

// GateDependencies returns the gates that must be on if a gate is on.
func (p *Provider) GateDependencies(ctx context.Context, state clusters.State, gate string) []string {
	return releases.GateDependencies(ctx, p.Releases, state, gate)
}

// BlameForField returns the gate that is the likely reason why a field was dropped.
func (p *Provider) BlameForField(ctx context.Context, state clusters.State, kind string, path []any) string {
	return releases.BlameForField(ctx, p.Releases, state, kind, path)
}

// Prepare pulls the node image of the state's version, and that of the load balancer.
func (p *Provider) Prepare(ctx context.Context, state clusters.State) error {
	if _, _, err := p.source().Image(ctx, state.Version); err != nil {
		return err
	}
	_, err := p.source().BalancerImage(ctx, state)
	return err
}

// Config returns the kind configuration of a cluster in this state, as Create uses it, except for the folder's name.
func (p *Provider) Config(ctx context.Context, state clusters.State) ([]byte, error) {
	v, err := clusters.ParseVersion(state.Version)
	if err != nil {
		return nil, err
	}
	image := p.Images.Given(v)
	if e, err := p.engine(ctx); err == nil {
		if image, err = p.Images.Choose(ctx, e, v); err != nil {
			return nil, err
		}
	} else if image == "" {
		image = images.OfficialRepository + ":v" + v.String()
	}
	return settings.Config(state, image, filepath.Join(p.Root, "NAME", nodes.FilesDir))
}

func (p *Provider) folders() folders.Root { return folders.Root(p.Root) }

// Names lists our lasting clusters, and no others.
func (p *Provider) Names() ([]string, error) { return p.folders().Lasting() }

// Describe returns what is known about a lasting cluster.
func (p *Provider) Describe(ctx context.Context, name string) (clusters.Description, error) {
	dir := filepath.Join(p.Root, name)
	r, err := record.Read(dir)
	if err != nil {
		return clusters.Description{}, err
	}
	d := clusters.Description{State: r.State(), Kubeconfig: r.Kubeconfig()}
	e, err := p.engineOf(ctx, r)
	if err != nil {
		return d, err
	}
	nodes, err := nodes.Own(ctx, e, name, dir)
	for _, node := range nodes {
		if node.Running {
			d.Running = append(d.Running, node.Name)
		}
	}
	return d, err
}

// Open opens a lasting cluster by its name. It connects only when needed, so that a broken cluster can be deleted,
// too.
func (p *Provider) Open(ctx context.Context, name string) (clusters.LastingCluster, error) {
	r, lock, err := record.Open(filepath.Join(p.Root, name))
	if err != nil {
		return nil, err
	}
	e, err := p.engineOf(ctx, r)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Cluster{provider: p, engine: e, lock: lock, record: r}, nil
}

// engineOf returns the engine that has the nodes of a cluster. Another one would not find them, and the cluster would
// seem to be gone. Records of older versions do not name it.
func (p *Provider) engineOf(ctx context.Context, r *record.Record) (*engine.Engine, error) {
	program, endpoint := r.Engine()
	if program == "" {
		return p.engine(ctx)
	}
	e, err := engine.Use(ctx, program, endpoint)
	if err != nil {
		return nil, fmt.Errorf("reach the engine of cluster %s: %w; if that engine is gone for good, remove the folder %s",
			r.Name(), err, r.Dir)
	}
	return e, nil
}

// engineIn returns the engine that has the nodes of the cluster in a folder.
func (p *Provider) engineIn(ctx context.Context, dir string) (*engine.Engine, error) {
	r, err := record.Read(dir)
	if err != nil {
		return p.engine(ctx) // its creation had hardly begun
	}
	return p.engineOf(ctx, r)
}

// source returns the source of node images.
func (p *Provider) source() *images.Source { return p.sourceIn(p.engine) }

func (p *Provider) sourceIn(e func(context.Context) (*engine.Engine, error)) *images.Source {
	return &images.Source{Engine: e, Images: p.Images, CacheDir: p.CacheDir, Progress: p.Progress}
}

// Sweep removes left-overs of killed runs.
func (p *Provider) Sweep(ctx context.Context) error {
	removed, err := p.folders().Sweep(ctx, func(name, dir string) error {
		e, err := p.engineIn(ctx, dir)
		if err != nil {
			return err
		}
		return nodes.Remove(ctx, e, name, dir)
	})
	for _, name := range removed {
		p.Progress("removed kind cluster %s that an interrupted run left behind", name)
	}
	return err
}
