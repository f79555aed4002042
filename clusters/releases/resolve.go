package releases

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// Resolve makes a version exact: "1.34" becomes the newest available patch of that minor version, "1.34.4" stays.
// Unless Options.Refresh is set, a patch in the cache takes precedence, so a warm start needs no network. With
// Options.BinDir the version must be the one of the programs there.
func (s *Store) Resolve(ctx context.Context, version string) (string, error) {
	v, err := clusters.ParseVersion(version)
	if err != nil {
		return "", err
	}
	if s.options.BinDir != "" {
		return s.resolveOwn(ctx, v)
	}
	if v.Exact() {
		return v.String(), nil
	}
	if !s.options.Refresh {
		cached, found, err := s.newestCached(v)
		if err != nil || found {
			return cached.String(), err
		}
	}
	newest, err := s.newestPublished(ctx, v)
	if err != nil {
		return "", fmt.Errorf("cannot find the newest patch of Kubernetes %s: %w", v, err)
	}
	return newest.String(), nil
}

func (s *Store) resolveOwn(ctx context.Context, v clusters.Version) (string, error) {
	own, err := s.ownVersion(ctx)
	if err != nil {
		return "", err
	}
	if v.Exact() && own != v || own.MinorString() != v.MinorString() {
		return "", fmt.Errorf("the programs in %s are Kubernetes %s, not %s: use version %q, or omit --kubernetes-bin",
			s.options.BinDir, own, v, own.MinorString())
	}
	return own.String(), nil
}

// newestCached returns the newest patch whose control plane is in the cache; it ignores pre-releases.
func (s *Store) newestCached(minor clusters.Version) (clusters.Version, bool, error) {
	var newest clusters.Version
	found := false
	entries, err := s.entries()
	if err != nil {
		return newest, false, err
	}
	controlPlane, err := wanted(nil)
	if err != nil {
		return newest, false, err
	}
	for _, v := range entries {
		if v.Pre != "" || v.MinorString() != minor.MinorString() || found && v.Compare(newest) < 0 {
			continue
		}
		m, err := readManifest(s.entry(v).dir)
		if err != nil {
			continue // Ensure reports what is wrong with it
		}
		if m.hasAll(controlPlane) {
			newest, found = v, true
		}
	}
	return newest, found, nil
}

// hasAll checks only the record. If a file was damaged later, Ensure gets it again in the same version.
func (m manifest) hasAll(programs []string) bool {
	for _, program := range programs {
		if _, recorded := m.Programs[program]; !recorded {
			return false
		}
	}
	return true
}

func (s *Store) newestPublished(ctx context.Context, minor clusters.Version) (clusters.Version, error) {
	if s.downloads() {
		v, err := s.newestOnHost(ctx, minor)
		if err == nil || !s.buildsInstead(err) {
			return v, err
		}
	}
	return s.newestModule(ctx, minor)
}

func (s *sources) newestOnHost(ctx context.Context, minor clusters.Version) (clusters.Version, error) {
	url := fmt.Sprintf("%s/release/stable-%s.txt", s.options.BaseURL, minor.MinorString())
	text, err := s.getText(ctx, url)
	if NotPublished(err) {
		return clusters.Version{}, fmt.Errorf("%w: that minor has no stable release", err)
	}
	if err != nil {
		return clusters.Version{}, err
	}
	v, err := clusters.ParseVersion(text)
	if err != nil || !v.Exact() || v.MinorString() != minor.MinorString() {
		return clusters.Version{}, fmt.Errorf("GET %s answered %.80q, which is not a patch of %s", url, text, minor)
	}
	return v, nil
}

func (s *sources) newestModule(ctx context.Context, minor clusters.Version) (clusters.Version, error) {
	tool, err := s.goTool()
	if err != nil {
		return clusters.Version{}, orPrograms(err)
	}
	dir, remove, err := scratch.Folder("modules")
	if err != nil {
		return clusters.Version{}, err
	}
	defer func() { _ = remove() }() // the next run tries again
	out, err := tool.run(ctx, dir, nil, "list", "-m", "-versions", kubernetesModule)
	if err != nil {
		return clusters.Version{}, &noListError{err}
	}
	newest, found := clusters.Version{}, false
	for _, field := range strings.Fields(string(out)) {
		v, err := clusters.ParseVersion(field)
		if err != nil || !v.Exact() || v.Pre != "" || v.MinorString() != minor.MinorString() {
			continue // the module's path, another minor, or a pre-release
		}
		if !found || v.Compare(newest) > 0 {
			newest, found = v, true
		}
	}
	if !found {
		return newest,
			fmt.Errorf("`go list -m -versions %s` has no release of that minor; name a version in full, such as %q",
				kubernetesModule, minor.MinorString()+".0")
	}
	return newest, nil
}
