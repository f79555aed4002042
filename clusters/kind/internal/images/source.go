package images

import (
	"context"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// Source gets node images and what is in them.
type Source struct {
	// Engine that has the images.
	Engine func(context.Context) (*engine.Engine, error)
	// Images says which node image a version has.
	Images NodeImages
	// CacheDir keeps what is taken out of node images.
	CacheDir string
	// Progress hears what takes long.
	Progress clusters.Progress
}

// Image of an exact version, and its identity.
func (p *Source) Image(ctx context.Context, version string) (image, id string, err error) {
	v, err := clusters.ParseVersion(version)
	if err != nil {
		return "", "", err
	}
	e, err := p.Engine(ctx)
	if err != nil {
		return "", "", err
	}
	return p.Images.Ensure(ctx, e, v, p.Progress)
}

// BalancerImage is that of the load balancer of a state's cluster, "" where it has none.
func (p *Source) BalancerImage(ctx context.Context, state clusters.State) (string, error) {
	if state.NumberOfControlPlanes() == 1 {
		return "", nil
	}
	e, err := p.Engine(ctx)
	if err != nil {
		return "", err
	}
	return p.Images.ensureBalancer(ctx, e, p.Progress)
}
