package images

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
)

// OfficialBalancer is the image that kind starts before several API servers; kind has no option to change it.
const OfficialBalancer = "docker.io/envoyproxy/envoy:v1.36.2"

// balancerKey replaces the version in --node-image for the load balancer.
const balancerKey = "load-balancer"

// chooseBalancer returns the image of the load balancer.
func (n NodeImages) chooseBalancer(ctx context.Context, store imageStore) (string, error) {
	if n.balancer != "" {
		return n.balancer, nil
	}
	for _, image := range []string{OfficialBalancer, nodeimage.BalancerTag} {
		_, err := store.ImageID(ctx, image)
		if err == nil {
			return image, nil
		}
		if !errors.Is(err, engine.ErrNoImage) {
			return "", err
		}
	}
	return OfficialBalancer, nil
}

// ensureBalancer pulls the image of the load balancer if the engine does not have it, and returns its name.
func (n NodeImages) ensureBalancer(ctx context.Context, store imageStore, progress clusters.Progress) (string, error) {
	image, err := n.chooseBalancer(ctx, store)
	if err != nil {
		return "", err
	}
	_, err = pullMissing(ctx, store, image, progress, func(err error) error {
		return fmt.Errorf("there is no image %s for the load balancer that several control planes need: %w; build one "+
			"(%s) or name your own (--node-image %s=IMAGE)",
			image, err, store.BuildCommand(ctx, "VERSION", nodeimage.BalancerTag), balancerKey)
	})
	return image, err
}
