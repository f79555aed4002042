package local

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Default returns a provider with programs and clusters in the user's cache directory. The program must call
// component.Main at the beginning of its main or TestMain.
func Default(from releases.Options, progress clusters.Progress) (*Provider, error) {
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
		Root: filepath.Join(store.CacheDir(), "clusters"), Releases: store, Executable: executable,
		Progress: progress,
	}), nil
}
