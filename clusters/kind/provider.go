// Package kind creates clusters of real nodes in containers, with kind, and changes their gates, flags, scheduler
// profiles and Kubernetes version in place, up and down.
package kind

import (
	"context"
	"errors"
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

// Releases knows the patches of Kubernetes' minor versions, and the feature gates of a version.
type Releases interface {
	Resolve(ctx context.Context, version string) (string, error)
	FeatureList(ctx context.Context, version string) (*features.List, error)
}

// Options of a Provider.
type Options struct {
	// CacheDir holds the clusters' folders and what is taken out of node images.
	CacheDir string
	// Releases knows Kubernetes' versions.
	Releases Releases
	// Images says which node image a version has.
	Images images.NodeImages
	// Executable is the program that runs itself again to have kind make a cluster with a load balancer that is not
	// kind's own; it calls Main first thing.
	Executable string
	// Lasting clusters outlive this process.
	Lasting bool
	// Progress hears what is going on. Optional.
	Progress clusters.Progress
}

// Provider makes kind clusters.
type Provider struct {
	Options

	// Root is the folder of the clusters' folders.
	Root   string
	engine func(context.Context) (*engine.Engine, error)
	// notLookedUp tells once that there is no engine: a plan asks for every state's version.
	notLookedUp *sync.Once
}

// New returns a provider; it touches nothing yet. Left-overs of runs that were killed are removed at the first Create.
func New(o Options) *Provider {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return &Provider{
		Options: o, Root: filepath.Join(o.CacheDir, "kind", "clusters"), engine: once(engine.Detect),
		notLookedUp: new(sync.Once),
	}
}

// once remembers the engine that was found; an error is not remembered.
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

// Name is kind.
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
	// A plan can be made where no cluster can.
	p.notLookedUp.Do(func() { p.Progress("node images not looked up: %v", err) })
	text, err := p.Releases.Resolve(ctx, minor.String())
	if err != nil {
		return minor, err
	}
	return clusters.ParseVersion(text)
}

// Check rejects what a kind cluster cannot be, or cannot become.
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

// GateDependencies are the gates that must be on where a gate is on.
func (p *Provider) GateDependencies(ctx context.Context, state clusters.State, gate string) []string {
	return releases.GateDependencies(ctx, p.Releases, state, gate)
}

// BlameForField says which gate is likely to be the reason that a field was dropped.
func (p *Provider) BlameForField(ctx context.Context, state clusters.State, kind string, path []any) string {
	return releases.BlameForField(ctx, p.Releases, state, kind, path)
}

// Prepare gets the node image of the state's version, and that of the load balancer.
func (p *Provider) Prepare(ctx context.Context, state clusters.State) error {
	if _, _, err := p.source().Image(ctx, state.Version); err != nil {
		return err
	}
	_, err := p.source().BalancerImage(ctx, state)
	return err
}

// Config is the kind configuration for a cluster in this state: the one that Create uses, but for the folder's name.
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

// Names lists the lasting clusters. Clusters that are not ours are never among them.
func (p *Provider) Names() ([]string, error) { return p.folders().Lasting() }

// Describe looks at a lasting cluster.
func (p *Provider) Describe(ctx context.Context, name string) (clusters.Description, error) {
	dir := filepath.Join(p.Root, name)
	r, err := record.Read(dir)
	if err != nil {
		return clusters.Description{}, err
	}
	d := clusters.Description{State: r.State(), Kubeconfig: r.Kubeconfig()}
	e, err := p.engine(ctx)
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

// Open takes a lasting cluster by its name. It is not connected to before something is asked of it: one that is
// broken can be deleted, too.
func (p *Provider) Open(ctx context.Context, name string) (clusters.LastingCluster, error) {
	dir := filepath.Join(p.Root, name)
	r, err := record.Read(dir)
	if err != nil {
		return nil, err
	}
	e, err := p.engine(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := folders.Lock(dir)
	if err != nil {
		return nil, err
	}
	return &Cluster{provider: p, engine: e, lock: lock, record: r}, nil
}

// source of node images.
func (p *Provider) source() *images.Source {
	return &images.Source{Engine: p.engine, Images: p.Images, CacheDir: p.CacheDir, Progress: p.Progress}
}

// Sweep removes what killed runs left behind.
func (p *Provider) Sweep(ctx context.Context) error {
	removed, err := p.folders().Sweep(func(name, dir string) error {
		e, err := p.engine(ctx)
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
