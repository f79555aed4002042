package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrNoImage is returned for an image that the engine does not have.
var ErrNoImage = errors.New("no such image")

// ImageID returns the identity of a local image's content; errors.Is(err, ErrNoImage) when the engine does not have it.
func (e *Engine) ImageID(ctx context.Context, image string) (string, error) {
	return e.inspectImage(ctx, image, "{{.Id}}")
}

// ImageLabel returns a label of a local image, "" when it has none of that name.
func (e *Engine) ImageLabel(ctx context.Context, image, label string) (string, error) {
	return e.inspectImage(ctx, image, fmt.Sprintf("{{with .Config.Labels}}{{index . %q}}{{end}}", label))
}

func (e *Engine) inspectImage(ctx context.Context, image, format string) (string, error) {
	out, err := e.Output(ctx, "image", "inspect", "--format", format, image)
	var failed *Error
	if errors.As(err, &failed) {
		said := strings.ToLower(failed.Said)
		if strings.Contains(said, "no such") || strings.Contains(said, "not known") || strings.Contains(said, "not found") {
			return "", fmt.Errorf("image %s: %w", image, ErrNoImage)
		}
	}
	return out, err
}

// Tags lists the tags of a repository that the engine has locally.
func (e *Engine) Tags(ctx context.Context, repository string) ([]string, error) {
	out, err := e.Output(ctx, "images", "--format", "{{.Repository}}:{{.Tag}}")
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, line := range strings.Fields(out) {
		// podman gives the full name of what docker abbreviates.
		line = strings.TrimPrefix(line, "docker.io/")
		if tag, found := strings.CutPrefix(line, strings.TrimPrefix(repository, "docker.io/")+":"); found {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

// rootlessLine matches what docker, nerdctl and podman write about a rootless engine.
var rootlessLine = regexp.MustCompile(`(?mi)^\s*rootless(: true)?\s*$`)

// BuildCommand returns the commands that build our images for a version, and bring one of them into this engine. With
// sudo, node-images loads them into root's storage, which a rootless engine does not use.
func (e *Engine) BuildCommand(ctx context.Context, version, image string) string {
	build := "sudo rehearse node-images " + version
	about, err := e.Output(ctx, "info")
	switch {
	case err != nil || !rootlessLine.MatchString(about):
		return build
	case e.Program == "docker":
		return "for this rootless engine: sudo DOCKER_HOST=" + e.Endpoint(ctx) + " rehearse node-images " + version
	}
	return fmt.Sprintf("%s; and because this engine is rootless: sudo %s save %s | %s load", build, e.Program, image,
		e.Program)
}
