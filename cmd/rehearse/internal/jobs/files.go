package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/reports/inlog"
)

// mostFiles is the size limit of a ConfigMap, minus its metadata.
const mostFiles = 1<<20 - 8<<10

// packFiles packs the files and folders that a shard reads. They must be below the current folder. A pod finds them
// by the same paths.
func packFiles(paths []string) ([]byte, error) {
	var names []string
	for _, path := range paths {
		found, err := filepath.Glob(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: there is no such file; with --in-image it is a file in the image", path)
		}
		for _, one := range found {
			below, err := filesBelow(one)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		}
	}
	slices.Sort(names)
	data, err := inlog.Pack(".", slices.Compact(names))
	if err != nil {
		return nil, fmt.Errorf("pack what the shards read: %w", err)
	}
	if len(data) > mostFiles {
		return nil, fmt.Errorf("the files of the shards take %d KiB compressed, but a ConfigMap holds %d: put them "+
			"into the image, and use --in-image", len(data)>>10, mostFiles>>10)
	}
	return data, nil
}

// filesBelow returns the files in a folder, or the file itself.
func filesBelow(path string) ([]string, error) {
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("%s: the pods get only files below the current folder; use a path relative to it", path)
	}
	var names []string
	err := manifests.EachFile(path, func(file string) error {
		info, err := os.Stat(file) // follows links
		if err == nil && info.Mode().IsRegular() {
			names = append(names, filepath.ToSlash(file))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pack what the shards read: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New(path + ": there is no file in it")
	}
	return names, nil
}
