// Package images chooses, pulls and unpacks node images and the image of the load balancer.
package images

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
)

// OfficialRepository is where the kind project publishes its node images. The name is complete: podman may not know
// which registry a short one means.
const OfficialRepository = "docker.io/kindest/node"

// versionPlaceholder in a pattern stands for the version: 1.34.4.
const versionPlaceholder = "{version}"

// NodeImages chooses the node image of a version. The zero value uses an image that the engine already has, first the
// kind project's, then our own. If there is none, it uses the kind project's.
type NodeImages struct {
	// byVersion maps "1.34.4" or "1.34" to an image.
	byVersion map[string]string
	// pattern is an image with the placeholder.
	pattern string
	// balancer is the image of the load balancer before several API servers.
	balancer string
}

// Parse reads the values of --node-image: "1.36=NAME", a pattern such as "example.com/node:v{version}", or
// "load-balancer=NAME".
func Parse(values []string) (NodeImages, error) {
	n := NodeImages{byVersion: map[string]string{}}
	for _, value := range values {
		version, image, one := strings.Cut(value, "=")
		switch {
		case !one && strings.Contains(value, versionPlaceholder):
			n.pattern = value
		case !one || image == "":
			return n, fmt.Errorf("--node-image %q: want VERSION=IMAGE, such as 1.36=example.com/node:mine, or a pattern with %s",
				value, versionPlaceholder)
		case version == balancerKey:
			n.balancer = image
		default:
			v, err := clusters.ParseVersion(version)
			if err != nil {
				return n, fmt.Errorf("--node-image %q: %w", value, err)
			}
			n.byVersion[v.String()] = image
		}
	}
	return n, nil
}

// Given returns the image that the user gave for a version, "" if none.
func (n NodeImages) Given(v clusters.Version) string {
	if image := n.byVersion[v.String()]; image != "" {
		return image
	}
	if image := n.byVersion[v.MinorString()]; image != "" {
		return image
	}
	if n.pattern == "" || !v.Exact() {
		return ""
	}
	return strings.ReplaceAll(n.pattern, versionPlaceholder, v.String())
}

// repositories returns where to look for images that the engine already has.
func (n NodeImages) repositories() []string {
	if repository, tag, found := strings.Cut(n.pattern, ":v"+versionPlaceholder); found && tag == "" {
		return []string{repository}
	}
	if n.pattern != "" {
		return nil
	}
	return []string{OfficialRepository, nodeimage.Repository}
}

// imageStore is the part of a container engine that handles images.
type imageStore interface {
	ImageID(ctx context.Context, image string) (string, error)
	ImageLabel(ctx context.Context, image, label string) (string, error)
	Tags(ctx context.Context, repository string) ([]string, error)
	Output(ctx context.Context, args ...string) (string, error)
	BuildCommand(ctx context.Context, version, image string) string
}

// resolver knows the newest patches of minor versions.
type resolver interface {
	Resolve(ctx context.Context, version string) (string, error)
}

// Choose returns the image of an exact version.
func (n NodeImages) Choose(ctx context.Context, store imageStore, v clusters.Version) (string, error) {
	if image := n.Given(v); image != "" {
		return image, nil
	}
	for _, repository := range n.repositories() {
		image := repository + ":v" + v.String()
		_, err := store.ImageID(ctx, image)
		if err == nil {
			return image, nil
		}
		if !errors.Is(err, engine.ErrNoImage) {
			return "", err
		}
	}
	return OfficialRepository + ":v" + v.String(), nil
}

// HavePodImage reports whether the node image of an exact version has clusters.PodImage. Images that are built here
// have it. An image that must be pulled is assumed to be the kind project's, which does not have it.
func (n NodeImages) HavePodImage(ctx context.Context, store imageStore, v clusters.Version) (bool, error) {
	image, err := n.Choose(ctx, store, v)
	if err != nil {
		return false, err
	}
	label, err := store.ImageLabel(ctx, image, nodeimage.KeyLabel)
	if errors.Is(err, engine.ErrNoImage) {
		return false, nil
	}
	return label != "", err
}

// Newest returns the newest patch of a minor for which there is an image: one that the user gave, one that the engine
// has, or one that is published.
func (n NodeImages) Newest(ctx context.Context, store imageStore, releases resolver,
	minor clusters.Version,
) (clusters.Version, error) {
	if image := n.byVersion[minor.MinorString()]; image != "" {
		return versionOf(ctx, store, image)
	}
	tags := slices.Collect(maps.Keys(n.byVersion))
	for _, repository := range n.repositories() {
		more, err := store.Tags(ctx, repository)
		if err != nil {
			return clusters.Version{}, err
		}
		tags = append(tags, more...)
	}
	found := clusters.Version{Patch: -1}
	for _, tag := range tags {
		v, err := clusters.ParseVersion(tag)
		if err == nil && v.Exact() && v.MinorString() == minor.MinorString() && v.Compare(found) > 0 {
			found = v
		}
	}
	if found.Exact() {
		return found, nil
	}
	text, err := releases.Resolve(ctx, minor.String())
	if err != nil {
		return found, err
	}
	newest, err := clusters.ParseVersion(text)
	if err != nil {
		return found, err
	}
	return n.newestPublished(ctx, store, newest)
}

// newestPublished searches downward from the newest release: not every release has a node image.
func (n NodeImages) newestPublished(ctx context.Context, store imageStore,
	newest clusters.Version,
) (clusters.Version, error) {
	minor := newest.MinorString()
	none := func(why string, err error) (clusters.Version, error) {
		return newest, fmt.Errorf("there is no local node image of Kubernetes %s, and the registry %s: %w; build one "+
			"(%s) or name your own (--node-image %s=IMAGE)", minor, why, err,
			store.BuildCommand(ctx, minor, nodeimage.Tag(newest.String())), minor)
	}
	var last error
	for v := newest; v.Patch >= 0; v.Patch-- {
		image := n.Given(v)
		if image == "" {
			image = OfficialRepository + ":v" + v.String()
		}
		// The registry of a local image need not exist.
		_, err := store.ImageID(ctx, image)
		if errors.Is(err, engine.ErrNoImage) {
			_, err = store.Output(ctx, "manifest", "inspect", image)
		}
		switch {
		case err == nil:
			return v, nil
		case !isNotPublished(err):
			return none("could not be asked for "+image, err)
		}
		last = err
	}
	return none("has none", last)
}

// notPublished matches how engines say that a registry has no such image: docker, podman, and nerdctl.
var notPublished = regexp.MustCompile(`(?i)no such manifest|manifest unknown|[/:][\w.-]+: not found`)

func isNotPublished(err error) bool {
	var failed *engine.Error
	return errors.As(err, &failed) && notPublished.MatchString(failed.Said)
}

// versionOf asks an image for the Kubernetes version that it has.
func versionOf(ctx context.Context, store imageStore, image string) (clusters.Version, error) {
	out, err := store.Output(ctx, "run", "--rm", "--network", "none", "--entrypoint", "cat", image, "/kind/version")
	if err != nil {
		return clusters.Version{}, fmt.Errorf("ask node image %s for its version: %w", image, err)
	}
	v, err := clusters.ParseVersion(strings.TrimSpace(out))
	if err != nil {
		return v, fmt.Errorf("node image %s: %w", image, err)
	}
	return v, nil
}

// Ensure pulls the image of a version if the engine does not have it, and returns its name and identity.
func (n NodeImages) Ensure(ctx context.Context, store imageStore, v clusters.Version,
	progress clusters.Progress,
) (image, id string, err error) {
	if image, err = n.Choose(ctx, store, v); err != nil {
		return "", "", err
	}
	id, err = pullMissing(ctx, store, image, progress, func(err error) error {
		return fmt.Errorf("there is no node image %s: %w; build it (%s) or name your own (--node-image %s=IMAGE)", image, err,
			store.BuildCommand(ctx, v.String(), nodeimage.Tag(v.String())), v)
	})
	return image, id, err
}

// pullMissing pulls an image if the engine does not have it, and returns its identity. explain turns a failed pull
// into the error to return.
func pullMissing(ctx context.Context, store imageStore, image string, progress clusters.Progress,
	explain func(error) error,
) (id string, err error) {
	if id, err = store.ImageID(ctx, image); !errors.Is(err, engine.ErrNoImage) {
		return id, err
	}
	progress("pulling image %s", image)
	if _, err := store.Output(ctx, "pull", "--quiet", image); err != nil {
		return "", explain(err)
	}
	return store.ImageID(ctx, image)
}
