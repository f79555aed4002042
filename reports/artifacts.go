package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// manifest is a file in a folder of artifacts. It lists what Rehearse wrote there, so that the next run with the same
// report folder removes only that.
const (
	manifest       = ".rehearse-files"
	manifestHeader = "# Rehearse wrote these files. Its next run with this report folder removes them.\n"
)

// stamp changes when a file is written.
type stamp struct {
	size     int64
	modified time.Time
}

// WriteArtifacts makes the folder, calls write to fill it, and lists the new and changed files in the manifest:
// sweepArtifacts removes only listed files.
func WriteArtifacts(dir string, write func(dir string) error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder for artifacts: %w", err)
	}
	before, err := stamps(dir)
	if err != nil {
		return err
	}
	writeErr := write(dir)
	after, err := stamps(dir)
	if err != nil {
		return errors.Join(writeErr, err)
	}
	ours, err := readManifest(dir)
	if err != nil {
		return errors.Join(writeErr, err)
	}
	for path, now := range after {
		if old, was := before[path]; (!was || old != now) && !slices.Contains(ours, path) {
			ours = append(ours, path)
		}
	}
	slices.Sort(ours)
	return errors.Join(writeErr, ReplaceFile(filepath.Join(dir, manifest), []byte(manifestHeader+strings.Join(ours, "\n")+
		"\n")))
}

// stamps returns the stamps of all files below a folder, by relative path.
func stamps(dir string) (map[string]stamp, error) {
	all := map[string]stamp{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == manifest {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		all[filepath.ToSlash(relative)] = stamp{info.Size(), info.ModTime()}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the folder for artifacts: %w", err)
	}
	return all, nil
}

// readManifest returns the files that the manifest lists; none if there is no manifest.
func readManifest(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of artifacts: %w", err)
	}
	var files []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line != "" && !strings.HasPrefix(line, "#") && filepath.IsLocal(filepath.FromSlash(line)) {
			files = append(files, line)
		}
	}
	return files, nil
}

// sweepArtifacts removes what earlier runs left in the folders of a report folder: the files that their manifests list,
// and then folders that are empty. Everything else stays.
func sweepArtifacts(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the report folder: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if entry.IsDir() {
			errs = append(errs, sweepFolder(filepath.Join(dir, entry.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("removing the files of an earlier run: %w", err)
	}
	return nil
}

func sweepFolder(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, manifest)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ours, err := readManifest(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // links cannot lead out of the folder
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range append(ours, manifest) {
		if err := root.Remove(filepath.FromSlash(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for inner := filepath.Dir(file); inner != "." && root.Remove(inner) == nil; inner = filepath.Dir(inner) {
			// It was empty.
		}
	}
	_ = os.Remove(dir) // it fails if the folder has other files
	return nil
}
