package kind

import (
	"fmt"
	"os"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// Default returns a provider that keeps everything in the user's cache directory. The running program must call Main
// first in its main or TestMain.
func Default(from releases.Options, images NodeImages, progress clusters.Progress) (*Provider, error) {
	if from.Progress == nil {
		from.Progress = progress
	}
	store, err := releases.New(from)
	if err != nil {
		return nil, err
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the running program: %w", err)
	}
	return New(Options{
		CacheDir: store.CacheDir(), Releases: store, Images: images, Executable: executable,
		Progress: progress,
	}), nil
}
