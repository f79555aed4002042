package manifests

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// Sources are the places that manifests are read from.
type Sources struct {
	// Paths of files, of folders (*.yaml, *.yml and *.json in them and below), and Stdin.
	Paths []string
	// Overlays are folders with a kustomization.
	Overlays []string
	// Stdin is the standard input.
	Stdin io.Reader
	// Files are manifests that are not on the disk, such as those embedded in the program. All of them are read. May be
	// nil.
	Files fs.FS
}

// Load reads the objects. Its error joins all problems, each with its place.
func (s Sources) Load() ([]*Object, error) {
	l := loader{stdin: s.Stdin, seen: map[string]bool{}}
	for _, path := range s.Paths {
		if err := l.path(path); err != nil {
			l.errs = append(l.errs, err)
		}
	}
	for _, dir := range s.Overlays {
		l.overlay(dir)
	}
	if s.Files != nil {
		if err := l.all(s.Files); err != nil {
			l.errs = append(l.errs, err)
		}
	}
	l.errs = append(l.errs, twice(l.objects)...)
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	if len(l.objects) == 0 {
		return nil, fmt.Errorf("no objects in %q", slices.Concat(s.Paths, s.Overlays))
	}
	return l.objects, nil
}

type loader struct {
	stdin   io.Reader
	seen    map[string]bool
	objects []*Object
	errs    []error
	// generated is how many objects have a generateName instead of a name.
	generated int
}

func (l *loader) path(path string) error {
	if path == Stdin {
		data, err := io.ReadAll(l.stdin)
		if err != nil {
			return fmt.Errorf("read the standard input: %w", err)
		}
		l.take("stdin", data)
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		err = l.folder(path)
	default:
		err = l.file(path)
	}
	if err != nil {
		return fmt.Errorf("read manifests: %w", err)
	}
	return nil
}

func (l *loader) folder(path string) error {
	found := false
	err := EachFile(path, func(file string) error {
		if !isManifest(file) {
			return nil
		}
		found = true
		return l.file(file)
	})
	if err == nil && !found {
		err = fmt.Errorf("no *.yaml, *.yml or *.json below %s", path)
	}
	return err
}

// EachFile visits every file of a folder and of the folders below it. It skips folders whose name begins with a dot,
// such as .git, or those behind the files of a mounted ConfigMap. A path that links to a folder, or to a file, works
// too; visited paths begin with it.
func EachFile(path string, visit func(file string) error) error {
	root, err := filepath.EvalSymlinks(path) // WalkDir does not follow a link
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && at != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		below, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		return visit(filepath.Join(path, below))
	})
}

// all reads every manifest of a file system.
func (l *loader) all(files fs.FS) error {
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isManifest(path) {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return fmt.Errorf("read manifests: %w", err)
		}
		l.take(path, data)
		return nil
	})
}

// isManifest reports whether a file in a folder is read.
func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}

// file reads a file only once, even if it is named several times.
func (l *loader) file(path string) error {
	key, err := filepath.Abs(path)
	if err != nil {
		key = path
	}
	if l.seen[key] {
		return nil
	}
	l.seen[key] = true
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	l.take(path, data)
	return nil
}

func (l *loader) take(file string, data []byte) {
	objects, err := parse(file, data)
	for _, o := range objects {
		if o.Generated {
			l.generated++
			o.Content.SetName(fmt.Sprintf("%srehearse%d", o.Content.GetGenerateName(), l.generated))
		}
	}
	l.objects = append(l.objects, objects...)
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// twice returns an error for each object with the same kind, namespace and name as an earlier one.
func twice(objects []*Object) []error {
	type identity struct{ group, kind, namespace, name string }
	first := map[identity]*Object{}
	var errs []error
	for _, o := range objects {
		id := identity{o.GVK().Group, o.GVK().Kind, o.Content.GetNamespace(), o.Content.GetName()}
		if before := first[id]; before != nil {
			errs = append(errs, o.Twice(before))
			continue
		}
		first[id] = o
	}
	return errs
}
