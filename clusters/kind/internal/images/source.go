package images

import (
	"context"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// Source provides node images and the files in them.
type Source struct {
	// Engine returns the engine that has the images.
	Engine func(context.Context) (*engine.Engine, error)
	// Images chooses the node image of a version.
	Images NodeImages
	// CacheDir keeps the files that are copied from node images.
	CacheDir string
	// Progress receives progress messages.
	Progress clusters.Progress
}

// Image returns the image of an exact version, and its identity.
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

// BalancerImage returns the load balancer's image for a state's cluster; "" if the cluster needs none.
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
