package yamltree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Found are the files that match the paths, each once.
type Found struct {
	Files   []File
	Skipped []string // folders that were not entered
	seen    map[string]bool
}

// File is a file that matches a path.
type File struct {
	Path string
	// Named by the user, rather than found in a folder.
	Named bool
}

// StandardInput is the path that means the standard input.
const StandardInput = "-"

// FindFiles finds the files of folders and globs.
func FindFiles(paths []string) (*Found, []error) {
	found := &Found{seen: map[string]bool{}}
	var errs []error
	if len(paths) == 0 {
		errs = append(errs, errors.New("loading scenarios: no file, folder or glob is given"))
	}
	for _, path := range paths {
		if err := found.path(path); err != nil {
			errs = append(errs, err)
		}
	}
	return found, errs
}

func (f *Found) path(path string) error {
	if path == StandardInput {
		if !f.seen[path] {
			f.seen[path] = true
			f.Files = append(f.Files, File{path, true})
		}
		return nil
	}
	if _, err := os.Lstat(path); err == nil || !strings.ContainsAny(path, "*?[") {
		return f.existing(path)
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return fmt.Errorf("loading scenarios: %q is not a glob: %w", path, err)
	}
	if len(matches) == 0 {
		return fmt.Errorf("loading scenarios: nothing matches %q", path)
	}
	var errs []error
	for _, match := range matches {
		errs = append(errs, f.existing(match))
	}
	return errors.Join(errs...)
}

func (f *Found) existing(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("loading scenarios: %w", err)
	case info.IsDir():
		return f.folder(path)
	}
	return f.file(path, info, true)
}

func (f *Found) file(path string, info fs.FileInfo, named bool) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("loading scenarios: %s is not a regular file", path)
	}
	key := filepath.Clean(path)
	if absolute, err := filepath.Abs(path); err == nil {
		key = absolute
	}
	if !f.seen[key] {
		f.seen[key] = true
		f.Files = append(f.Files, File{path, named})
	}
	return nil
}

func (f *Found) folder(root string) error {
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
				f.Skipped = append(f.Skipped, path)
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path) // it follows links
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a link to a folder; name the folder itself", path)
		}
		if extension := filepath.Ext(path); extension != ".yaml" && extension != ".yml" {
			return nil
		}
		files++
		return f.file(path, info, false)
	})
	if err != nil {
		return fmt.Errorf("loading scenarios: %w", err)
	}
	if files == 0 {
		return fmt.Errorf("loading scenarios: no *.yaml or *.yml below %s", root)
	}
	return nil
}
