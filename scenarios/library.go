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
	entries, err := fs.ReadDir(library, system)
	if err != nil {
		return nil, fmt.Errorf("the scenarios of %s: %w", system, err)
	}
	l := newLoader()
	var errs []error
	for _, entry := range entries {
		data, err := fs.ReadFile(library, path.Join(system, entry.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.named = true
		source, problem := yamltree.NewSource(path.Join("scenarios", system, entry.Name()), data)
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
