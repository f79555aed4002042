package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

const (
	listName       = "features.json"
	listLockName   = "features.lock"
	listTempPrefix = ".features-"
	// listFormat changes whenever lists in the cache must be read from the modules again.
	listFormat = 2
)

// storedList is the file with a version's list in the cache.
type storedList struct {
	Format int            `json:"format"`
	List   *features.List `json:"list"`
}

// NoFeatureListError reports that a version's feature gates are unknown, so that they cannot be checked before a
// component starts. It does not mean that the gates are wrong.
type NoFeatureListError struct {
	Version string
	Err     error
}

func (e *NoFeatureListError) Error() string {
	return fmt.Sprintf("the feature gates of Kubernetes %s cannot be checked before it starts: %v", e.Version, e.Err)
}

// Unwrap returns the cause.
func (e *NoFeatureListError) Unwrap() error { return e.Err }

// FeatureList returns the feature gates of an exact version. The Go tool gets them from the modules of that version.
// The list is cached, so a warm start does not need the Go tool. It includes the lists of other versions in the
// cache. If the version's programs are in the cache, it also shows which program has which gate. If there is no list,
// the error is a *NoFeatureListError.
func (s *Store) FeatureList(ctx context.Context, version string) (*features.List, error) {
	v, err := exact(version)
	if err != nil {
		return nil, err
	}
	if s.options.BinDir != "" {
		return nil, &NoFeatureListError{
			Version: v.String(),
			Err:     fmt.Errorf("your own build in %s may have gates that no release has", s.options.BinDir),
		}
	}
	// The programs that are asked for their gates must run here.
	list, err := s.featureList(ctx, s.entryOf(thisPlatform, v))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &NoFeatureListError{Version: v.String(), Err: err}
	}
	return list.With(s.otherLists(v)...), nil
}

func (s *sources) featureList(ctx context.Context, e entry) (*features.List, error) {
	list, err := s.lists.read(e)
	if err == nil && !e.canAsk(list) {
		return list, nil
	}
	unlock, err := e.lock(ctx, listLockName, s.options.Progress)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeTemporary(e.home, listTempPrefix); err != nil {
		return nil, err
	}
	if list, err = readList(e); err != nil {
		if list, err = s.makeList(ctx, e.version); err != nil {
			return nil, err
		}
	} else if !e.canAsk(list) {
		return list, nil
	}
	if err := e.ask(ctx, list); err != nil {
		return nil, err
	}
	return list, writeJSON(filepath.Join(e.home, listName), listTempPrefix, storedList{Format: listFormat, List: list})
}

// readList reads a list from the cache. It returns an error if the list is absent, broken or of another format; the
// list is then read from the modules again.
func readList(e entry) (*features.List, error) {
	data, err := os.ReadFile(filepath.Join(e.home, listName))
	if err != nil {
		return nil, err
	}
	var stored storedList
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, err
	}
	if stored.Format != listFormat || stored.List == nil || stored.List.Version != e.version.String() ||
		len(stored.List.Gates) == 0 {
		return nil, errors.New("not a list of this format")
	}
	return stored.List, nil
}

// makeList reads the list from the modules of the version.
func (s *sources) makeList(ctx context.Context, v clusters.Version) (*features.List, error) {
	tool, err := s.goTool()
	if err != nil {
		return nil, err
	}
	dir, remove, err := scratch.Folder("modules")
	if err != nil {
		return nil, err
	}
	defer func() { _ = remove() }() // the next run tries again
	s.options.Progress("getting the list of feature gates of Kubernetes %s", v)
	modules, err := tool.download(ctx, dir, kubernetesModule+"@v"+v.String(), "k8s.io/client-go@"+stagingVersion(v))
	if err != nil {
		return nil, err
	}
	return features.Read(v, os.DirFS(modules[0].Dir), os.DirFS(modules[1].Dir))
}

// canAsk reports whether the cache has a program whose gates are not in the list yet.
func (e entry) canAsk(list *features.List) bool {
	for _, c := range clusters.ControlPlane() {
		if _, asked := list.Programs[c]; !asked && e.present(c) {
			return true
		}
	}
	return false
}

func (e entry) present(c clusters.Component) bool {
	lacking, err := e.lacking([]string{string(c)})
	return err == nil && len(lacking) == 0
}

// ask adds the gates in the --help of each program in the cache.
func (e entry) ask(ctx context.Context, list *features.List) error {
	for _, c := range clusters.ControlPlane() {
		if _, asked := list.Programs[c]; asked || !e.present(c) {
			continue
		}
		help, err := output(ctx, filepath.Join(e.dir, string(c)), "--help")
		if err != nil {
			return err
		}
		gates := features.InHelp(help)
		if len(gates) == 0 {
			return fmt.Errorf("%s --help names no feature gates", filepath.Join(e.dir, string(c)))
		}
		if list.Programs == nil {
			list.Programs = map[clusters.Component]map[string]bool{}
		}
		list.Programs[c] = gates
	}
	return nil
}

// otherLists returns the lists of other versions in the cache. They only show which versions have an unknown gate.
func (s *Store) otherLists(v clusters.Version) []*features.List {
	return slices.DeleteFunc(s.CachedLists(), func(list *features.List) bool { return list.Of() == v })
}
