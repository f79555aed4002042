package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fakeStore is an engine that has some images, and can pull others from a registry.
type fakeStore struct {
	here, published []string
	broken          error
	// registry is what the registry says of other images; "" for manifest unknown.
	registry string
}

func (s *fakeStore) ImageID(_ context.Context, image string) (string, error) {
	if s.broken != nil {
		return "", s.broken
	}
	for _, have := range s.here {
		if have == image {
			return "sha256:" + image, nil
		}
	}
	return "", fmt.Errorf("image %s: %w", image, engine.ErrNoImage)
}

func (s *fakeStore) ImageLabel(ctx context.Context, image, label string) (string, error) {
	if _, err := s.ImageID(ctx, image); err != nil {
		return "", err
	}
	if label == nodeimage.KeyLabel && strings.HasPrefix(image, nodeimage.Repository+":") {
		return "what it is made of", nil
	}
	return "", nil
}

func (s *fakeStore) Tags(_ context.Context, repository string) ([]string, error) {
	var tags []string
	for _, have := range s.here {
		if tag, found := strings.CutPrefix(have, repository+":"); found {
			tags = append(tags, tag)
		}
	}
	return tags, s.broken
}

func (s *fakeStore) Output(_ context.Context, args ...string) (string, error) {
	image := args[len(args)-1]
	switch args[0] {
	case "run":
		return "v1.36.9\n", nil
	case "pull", "manifest":
		for _, have := range s.published {
			if have == image {
				s.here = append(s.here, image)
				return "", nil
			}
		}
		said := cmp.Or(s.registry, "manifest unknown")
		return "", &engine.Error{Program: "docker", Args: args, Said: said, Err: errors.New("exit status 1")}
	}
	return "", fmt.Errorf("unexpected: %v", args)
}

func (s *fakeStore) BuildCommand(_ context.Context, version, image string) string {
	return "build " + version + " as " + image
}

func TestPodImage(t *testing.T) {
	v, err := clusters.ParseVersion("1.34.4")
	golden.Must(t, err)
	for name, test := range map[string]struct {
		here []string
		want bool
	}{
		"built here":   {[]string{"localhost/rehearse-node:v1.34.4"}, true},
		"official":     {[]string{"docker.io/kindest/node:v1.34.4", "localhost/rehearse-node:v1.34.4"}, false},
		"to be pulled": {nil, false},
	} {
		if got, err := (NodeImages{}).HavePodImage(t.Context(), &fakeStore{here: test.here}, v); got != test.want ||
			err != nil {
			t.Errorf("%s: got %t, %v", name, got, err)
		}
	}
	if _, err := (NodeImages{}).HavePodImage(t.Context(), &fakeStore{broken: errors.New("the engine is away")},
		v); err == nil {
		t.Error("an engine that is away was taken for a node image without it")
	}
}

// newestIs resolves every minor version to the same newest patch version.
type newestIs string

func (n newestIs) Resolve(context.Context, string) (string, error) { return string(n), nil }

func (newestIs) FeatureList(context.Context, string) (*features.List, error) {
	return nil, errors.New("not asked for here")
}

func version(t *testing.T, text string) clusters.Version {
	t.Helper()
	v, err := clusters.ParseVersion(text)
	golden.Must(t, err)
	return v
}

func TestWhichImage(t *testing.T) {
	for _, c := range []struct {
		name      string
		flags     []string
		here      []string
		published []string
		registry  string
		asked     string
		version   string
		image     string
		err       string
	}{
		{
			name: "what is there, the newest patch",
			here: []string{
				"docker.io/kindest/node:v1.34.0", "localhost/rehearse-node:v1.34.4",
				"docker.io/kindest/node:v1.35.9",
			}, asked: "1.34", version: "1.34.4", image: "localhost/rehearse-node:v1.34.4",
		},
		{
			name: "the kind project's before our own",
			here: []string{
				"localhost/rehearse-node:v1.34.4",
				"docker.io/kindest/node:v1.34.4",
			}, asked: "1.34.4", version: "1.34.4", image: "docker.io/kindest/node:v1.34.4",
		},
		{
			name: "published, not every patch is", published: []string{"docker.io/kindest/node:v1.34.3"}, asked: "1.34",
			version: "1.34.3", image: "docker.io/kindest/node:v1.34.3",
		},
		{
			name: "given for a minor", flags: []string{"1.36=example.com/mine:latest"},
			here: []string{"example.com/mine:latest"}, asked: "1.36", version: "1.36.9", image: "example.com/mine:latest",
		},
		{
			name: "a patch that was given, newer than what is there", flags: []string{"1.34.4=example.com/mine:latest"},
			here:  []string{"docker.io/kindest/node:v1.34.0", "example.com/mine:latest"},
			asked: "1.34", version: "1.34.4", image: "example.com/mine:latest",
		},
		{
			name: "a pattern", flags: []string{"example.com/node:v{version}"},
			here: []string{
				"example.com/node:v1.34.2",
				"docker.io/kindest/node:v1.34.3",
			}, asked: "1.34", version: "1.34.2", image: "example.com/node:v1.34.2",
		},
		{
			name: "nowhere", asked: "1.34.4", version: "1.34.4",
			err: "there is no node image docker.io/kindest/node:v1.34.4: docker pull --quiet " +
				"docker.io/kindest/node:v1.34.4: manifest unknown; " +
				"build it (build 1.34.4 as localhost/rehearse-node:v1.34.4) or name your own (--node-image 1.34.4=IMAGE)",
		},
		{
			name: "no patch anywhere", asked: "1.34", err: "there is no local node image of Kubernetes 1.34, and the registry " +
				"has none: docker manifest inspect docker.io/kindest/node:v1.34.0: manifest unknown; build one (build 1.34 as ",
		},
		{
			name: "the registry cannot be reached", asked: "1.34", registry: "dial tcp: lookup docker.io: no such host",
			err: "there is no local node image of Kubernetes 1.34, and the registry could not be asked for " +
				"docker.io/kindest/node:v1.34.5: docker manifest inspect docker.io/kindest/node:v1.34.5: dial tcp",
		},
		{
			name: "no credentials", asked: "1.34", err: "could not be asked",
			registry: `exec: "docker-credential-x": executable file not found in $PATH`,
		},
		{
			name: "a local image of a registry that cannot be reached", flags: []string{"local/node-{version}:1"},
			here: []string{"local/node-1.34.5:1"}, registry: "no such host", asked: "1.34", version: "1.34.5",
			image: "local/node-1.34.5:1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			images, err := Parse(c.flags)
			golden.Must(t, err)
			store := &fakeStore{here: c.here, published: c.published, registry: c.registry}
			v := version(t, c.asked)
			if !v.Exact() {
				v, err = images.Newest(t.Context(), store, newestIs("1.34.5"), v)
			}
			if c.version != "" && v.String() != c.version {
				t.Errorf("version %s, %v; want %s", v, err, c.version)
			}
			var image string
			if err == nil {
				image, _, err = images.Ensure(t.Context(), store, v, func(string, ...any) {})
			}
			if c.err != "" {
				golden.Error(t, err, c.err)
				return
			}
			if err != nil || image != c.image {
				t.Errorf("image %s, %v; want %s", image, err, c.image)
			}
		})
	}
}

// An error of the engine does not mean that the image is missing.
func TestAnEngineThatCannotSay(t *testing.T) {
	broken := errors.New("the daemon is gone")
	if _, err := (NodeImages{}).Choose(t.Context(), &fakeStore{broken: broken}, version(t, "1.34.4")); !errors.Is(err,
		broken) {
		t.Errorf("got %v", err)
	}
}

func TestIsNotPublished(t *testing.T) {
	for said, want := range map[string]bool{
		"no such manifest: docker.io/kindest/node:v1.34.9":                                                true,
		"reading manifest v1.34.9 in docker.io/kindest/node: manifest unknown":                            true,
		"failed to resolve reference \"docker.io/kindest/node:v9\": docker.io/kindest/node:v9: not found": true,
		"Get \"https://registry-1.docker.io/v2/\": proxy: 404 Not Found":                                  false,
		"sh: docker-credential-x: not found":                                                              false,
	} {
		if got := isNotPublished(&engine.Error{Said: said}); got != want {
			t.Errorf("%s: got %t", said, got)
		}
	}
	if isNotPublished(errors.New("manifest unknown")) {
		t.Error("an error that is not the engine's")
	}
}

func TestParseNodeImagesRejects(t *testing.T) {
	for _, value := range []string{"example.com/node:latest", "1.36=", "new=example.com/node"} {
		_, err := Parse([]string{value})
		golden.Error(t, err, value)
	}
}

func TestSortImages(t *testing.T) {
	names := "registry.k8s.io/kube-apiserver:v1.34.4 registry.k8s.io/kube-apiserver:v1.35.4 " +
		"registry.k8s.io/etcd:3.6.5-0 registry.k8s.io/pause@sha256:12 docker.io/kindest/kindnetd:v1 sha256:34"
	components, addons := sortImages(names, "1.34.4")
	if got := fmt.Sprint(components,
		addons); got != "[registry.k8s.io/kube-apiserver:v1.34.4] [registry.k8s.io/etcd:3.6.5-0]" {
		t.Errorf("got %s", got)
	}
}
