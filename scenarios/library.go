package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// library holds this project's own scenarios. They are embedded, so that the program has them wherever it runs.
//
//go:embed */*.yaml
var library embed.FS

// Library loads this project's own scenarios of a system, in the same order as Load. If there are none, errors.Is(err,
// fs.ErrNotExist) is true.
func Library(system string) (*Set, error) {
	if system == "testdata" || !fs.ValidPath(system) {
		return nil, fmt.Errorf("the scenarios of %q: %w", system, fs.ErrNotExist)
	}
	files, err := fs.Sub(library, system)
	if err != nil {
		return nil, fmt.Errorf("the scenarios of %s: %w", system, err)
	}
	set, err := LoadFS(files, path.Join("scenarios", system))
	if err != nil {
		return nil, fmt.Errorf("the scenarios of %s: %w", system, err)
	}
	return set, nil
}

// LoadFS loads the YAML files in the top folder of a file system. Positions name a file by its name below the given
// folder. File names in the scenarios are relative to that folder, too.
func LoadFS(files fs.FS, folder string) (*Set, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no YAML file: %w", fs.ErrNotExist)
	}
	l := newLoader()
	var errs []error
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.named = true
		source, problem := yamltree.NewSource(path.Join(folder, name), data)
		if problem != nil {
			l.found.Add(problem)
			continue
		}
		l.source(source)
	}
	return l.finish(errs)
}

// Libraries lists the systems for which this project has scenarios.
func Libraries() ([]string, error) {
	entries, err := fs.ReadDir(library, ".")
	if err != nil {
		return nil, fmt.Errorf("list the systems that there are scenarios of: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != "testdata" {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
