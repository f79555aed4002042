package releases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// CachedLists returns the feature gates of every version whose list is in the cache, from the oldest version to the
// newest. It needs neither the network nor the Go tool.
func (s *Store) CachedLists() []*features.List {
	var found []*features.List
	entries, _ := s.entries()
	for _, at := range entries {
		if list, err := s.lists.read(s.entry(at)); err == nil {
			found = append(found, list)
		}
	}
	slices.SortFunc(found, func(a, b *features.List) int { return a.Of().Compare(b.Of()) })
	return found
}

// CachedVersions returns the versions whose control plane is in the cache, from the oldest to the newest.
func (s *Store) CachedVersions() []clusters.Version {
	entries, _ := s.entries()
	found := slices.DeleteFunc(entries, func(v clusters.Version) bool { return !s.Cached(v.String()) })
	slices.SortFunc(found, clusters.Version.Compare)
	return found
}

// entries returns the versions that have a folder in the bundle or the cache. After an error, it also returns those
// that it could read.
func (s *Store) entries() ([]clusters.Version, error) {
	var all []clusters.Version
	var problems []error
	for _, root := range []string{s.options.BundleDir, s.options.CacheDir} {
		if root == "" {
			continue
		}
		folders, err := os.ReadDir(filepath.Join(root, "kubernetes"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("cannot read the cache: %w", err))
		}
		for _, folder := range folders {
			v, err := clusters.ParseVersion(folder.Name())
			if err == nil && v.Exact() && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all, errors.Join(problems...)
}

// CachedVersion makes a version exact without the network: for a minor version, the newest patch whose programs are
// in the cache, otherwise the newest whose list of feature gates is. It returns false if there is none.
func (s *Store) CachedVersion(version string) (clusters.Version, bool, error) {
	v, err := clusters.ParseVersion(version)
	if err != nil || v.Exact() {
		return v, err == nil, err
	}
	if newest, found, err := s.newestCached(v); err != nil || found {
		return newest, found, err
	}
	for _, list := range slices.Backward(s.CachedLists()) {
		if at := list.Of(); at.Pre == "" && at.MinorString() == v.MinorString() {
			return at, true, nil
		}
	}
	return v, false, nil
}

// Cached reports whether the control plane of a version is in the cache, so that a cluster of it starts at once. For
// a minor version, any patch counts.
func (s *Store) Cached(version string) bool {
	v, err := clusters.ParseVersion(version)
	if err != nil {
		return false
	}
	if !v.Exact() {
		_, found, err := s.newestCached(v)
		return err == nil && found
	}
	programs, err1 := wanted(nil)
	m, err2 := readManifest(s.entry(v).dir)
	return err1 == nil && err2 == nil && m.hasAll(programs)
}

// InCache returns a lister of the store that uses neither the network nor the Go tool.
func InCache(s *Store) features.Lister { return inCache{s} }

type inCache struct{ *Store }

// FeatureList is CachedFeatureList.
func (c inCache) FeatureList(_ context.Context, version string) (*features.List, error) {
	return c.CachedFeatureList(version)
}

// CachedFeatureList is FeatureList from the cache alone. The version may be a minor one. If the list is not in the
// cache, the error is a *NoFeatureListError that says how to get it.
func (s *Store) CachedFeatureList(version string) (*features.List, error) {
	v, _, err := s.CachedVersion(version)
	if err != nil {
		return nil, err
	}
	var others []*features.List
	var list *features.List
	for _, cached := range s.CachedLists() {
		if cached.Of() == v {
			list = cached
			continue
		}
		others = append(others, cached)
	}
	if list == nil {
		return nil, &NoFeatureListError{
			Version: v.String(),
			Err:     fmt.Errorf("its list is not in the cache; get it with %s", HowToGetList(v.String())),
		}
	}
	return list.With(others...), nil
}

// HowToGetList returns the commands that put a version's list of feature gates into the cache.
func HowToGetList(version string) string {
	return fmt.Sprintf("`rehearse fetch %s` (or, the list alone, `rehearse gates --version %s`)", version, version)
}
