package releases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/rehearse-dev/rehearse/clusters"
)

// layout is a writable copy of a module's files. A published module lacks those folders that are separate modules.
// Those that the build needs are added to the copy, at the same version.
type layout struct {
	tool     goTool
	dir      string
	module   clusters.ModuleProgram
	progress clusters.Progress
}

// fetch downloads a module and copies its files into a folder of the layout.
func (l layout) fetch(ctx context.Context, modulePath, folder string) error {
	l.progress("getting the module %s %s", modulePath, l.module.Version)
	found, err := l.tool.download(ctx, filepath.Dir(l.dir), modulePath+"@"+l.module.Version)
	if err != nil {
		return fmt.Errorf("get the module ('go list -m -versions %s' lists the versions that are served): %w", modulePath,
			err)
	}
	if err := l.place(found[0].Dir, filepath.Join(l.dir, filepath.FromSlash(folder))); err != nil {
		return fmt.Errorf("copy the module %s %s: %w", modulePath, l.module.Version, err)
	}
	return nil
}

// place copies a module's files to a folder. An incomplete copy never has the name of the folder: a folder without
// go.mod counts as a part of the module around it.
func (l layout) place(from, to string) error {
	if isFolder(to) { // it already contains another module
		return copyFolder(from, to)
	}
	temp, err := os.MkdirTemp(filepath.Dir(l.dir), tempPrefix) // the next holder of the lock removes what stays
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	whole := filepath.Join(temp, sourceName)
	if err := copyFolder(from, whole); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Rename(whole, to)
}

// prepare completes the layout for a build, and returns the folder of the module that contains the main package.
func (l layout) prepare(ctx context.Context) (main string, err error) {
	if main, err = l.mainModule(ctx); err != nil {
		return "", err
	}
	file := filepath.Join(l.dir, filepath.FromSlash(main), "go.mod")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("module %s has no go.mod: it is from before Go's modules", l.module.Path)
	}
	if err != nil {
		return "", err
	}
	parsed, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return "", err
	}
	for _, r := range parsed.Replace {
		if r.New.Version != "" {
			continue
		}
		if err := l.completeReplacement(ctx, main, r); err != nil {
			return "", err
		}
	}
	return main, nil
}

// mainModule returns the folder of the module that contains the main package: ".", or the folder of a nested module,
// which it fetches.
func (l layout) mainModule(ctx context.Context) (string, error) {
	wanted := l.module.Folder()
	for folder := wanted; folder != "."; folder = path.Dir(folder) {
		has, err := isThere(filepath.Join(l.dir, filepath.FromSlash(folder), "go.mod"))
		if err != nil || has {
			return folder, err
		}
	}
	if isFolder(filepath.Join(l.dir, filepath.FromSlash(wanted))) {
		return ".", nil
	}
	var first error
	for folder := wanted; folder != "."; folder = path.Dir(folder) {
		if isFolder(filepath.Join(l.dir, filepath.FromSlash(folder))) {
			break
		}
		err := l.fetch(ctx, nestedModule(l.module.Path, folder), folder)
		if err == nil {
			return folder, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("%s@%s has no folder %s, and no module for that folder was found: %w", l.module.Path,
		l.module.Version, wanted, first)
}

// completeReplacement adds the folder that a go.mod replaces a module by, if it is missing.
func (l layout) completeReplacement(ctx context.Context, main string, r *modfile.Replace) error {
	outside := fmt.Errorf("its go.mod replaces %s by the folder %s, which is outside of the module %s and so not "+
		"published with it", r.Old.Path, r.New.Path, l.module.Path)
	if path.IsAbs(r.New.Path) || filepath.IsAbs(r.New.Path) {
		return outside
	}
	folder := path.Join(main, filepath.ToSlash(r.New.Path))
	if !filepath.IsLocal(folder) {
		return outside
	}
	has, err := isThere(filepath.Join(l.dir, filepath.FromSlash(folder), "go.mod"))
	if err != nil || has {
		return err
	}
	if err := l.fetch(ctx, nestedModule(l.module.Path, folder), folder); err != nil {
		return fmt.Errorf("its go.mod replaces %s by the folder %s, which is a separate module: %w",
			r.Old.Path, r.New.Path, err)
	}
	return nil
}

// nestedModule returns the path of the module in a folder of another module's repository.
func nestedModule(parent, folder string) string {
	prefix, major, _ := module.SplitPathVersion(parent)
	return prefix + "/" + folder + major
}

// copyFolder copies a module's files and makes them writable. It copies go.mod last, so an incomplete copy has none.
func copyFolder(from, to string) error {
	last := filepath.Join(from, "go.mod")
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(name, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type().IsRegular() && name != last: // a module has no other files
			return copyFile(name, target)
		}
		return nil
	})
	if has, missing := isThere(last); err != nil || missing != nil || !has {
		return errors.Join(err, missing)
	}
	return copyFile(last, filepath.Join(to, "go.mod"))
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
