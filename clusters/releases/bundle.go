package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// BundleVariable is the environment variable that names a bundle: a read-only folder with the layout of the cache. A
// version is searched there first. A container image has its versions there.
const BundleVariable = "REHEARSE_KUBERNETES"

// BundleFile is one file of a version in a bundle.
type BundleFile struct {
	// Name in the bundle, with slashes.
	Name string
	// Path of a program in the cache, or Data, the content of another file.
	Path string
	Data []byte
}

// Bundle lists the files that a bundle needs for a version in the cache, for a platform such as linux-amd64. All
// files must get the time at, which is recorded with the programs.
func (s *Store) Bundle(ctx context.Context, version, platform string, at time.Time) ([]BundleFile, error) {
	v, err := exact(version)
	if err != nil {
		return nil, err
	}
	e := s.entryIn(s.options.CacheDir, v, platform)
	programs, err := wanted(nil)
	if err != nil {
		return nil, err
	}
	if lacking, err := e.lacking(programs); err != nil || len(lacking) > 0 {
		return nil, errors.Join(err, fmt.Errorf("the cache has no Kubernetes %s for %s in %s; `rehearse fetch %s` "+
			"gets it on such a machine", v, platform, e.dir, v))
	}
	list, err := s.FeatureList(ctx, version)
	if err != nil {
		return nil, err
	}
	recorded, err := readManifest(e.dir)
	if err != nil {
		return nil, err
	}
	home := "kubernetes/v" + v.String() + "/"
	files, m := []BundleFile{}, manifest{Version: recorded.Version, Programs: map[string]programRecord{}}
	for _, program := range programs {
		r := recorded.Programs[program]
		r.Modified = at.UTC().Truncate(time.Second)
		m.Programs[program] = r
		files = append(files, BundleFile{Name: home + platform + "/" + program, Path: filepath.Join(e.dir, program)})
	}
	for _, one := range []struct {
		name  string
		value any
	}{
		{home + platform + "/" + manifestName, m},
		{home + listName, storedList{Format: listFormat, List: list}},
	} {
		data, err := json.MarshalIndent(one.value, "", " ")
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", one.name, err)
		}
		files = append(files, BundleFile{Name: one.name, Data: append(data, '\n')})
	}
	return files, nil
}

// entry returns the place of a version: the bundle, if it has all programs and the list of gates, or the cache.
func (s *Store) entry(v clusters.Version, programs ...string) entry {
	if s.options.BundleDir != "" {
		e := s.entryIn(s.options.BundleDir, v, s.platform)
		if want, err := wanted(programs); err == nil && e.bundled(want) {
			return e
		}
	}
	return s.entryIn(s.options.CacheDir, v, s.platform)
}

func (s *Store) entryIn(root string, v clusters.Version, platform string) entry {
	home := filepath.Join(root, "kubernetes", "v"+v.String())
	return entry{
		version: v, what: "Kubernetes " + v.String(), recorded: "v" + v.String(), home: home,
		dir: filepath.Join(home, platform),
	}
}

// bundled reports whether an entry is complete, so that nothing must be written there.
func (e entry) bundled(programs []string) bool {
	lacking, err := e.lacking(programs)
	if err != nil || len(lacking) > 0 {
		return false
	}
	list, err := readList(e)
	return err == nil && !e.canAsk(list)
}
