package local

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// CacheDir is the folder under the user's cache directory for programs and clusters.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the cache: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "rehearse"), nil
}

// Default returns a provider with programs and clusters in the user's cache directory. The program must call
// component.Main at the beginning of its main or TestMain.
func Default(from releases.Options, progress clusters.Progress) (*Provider, error) {
	var err error
	if from.CacheDir == "" {
		if from.CacheDir, err = CacheDir(); err != nil {
			return nil, err
		}
	}
	if from.Progress == nil {
		from.Progress = progress
	}
	store, err := releases.New(from)
	if err != nil {
		return nil, err
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	return New(Options{
		Root: filepath.Join(from.CacheDir, "clusters"), Releases: store, Executable: executable,
		Progress: progress,
	}), nil
}
