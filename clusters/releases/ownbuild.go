package releases

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// ownVersion returns the version of the user's own build.
func (s *Store) ownVersion(ctx context.Context) (clusters.Version, error) {
	v, err := programVersion(ctx, filepath.Join(s.options.BinDir, string(clusters.APIServer)))
	if err != nil {
		return v, fmt.Errorf("cannot use the programs in %s: %w", s.options.BinDir, err)
	}
	return v, nil
}

// ownBinaries returns the programs of the user's own build. All must exist and have the version.
func (s *Store) ownBinaries(ctx context.Context, v clusters.Version, want []string) (Binaries, error) {
	dir, err := filepath.Abs(s.options.BinDir)
	if err != nil {
		return Binaries{}, err
	}
	var missing []string
	for _, program := range want {
		info, err := os.Stat(filepath.Join(dir, program))
		switch {
		case os.IsNotExist(err):
			missing = append(missing, program)
		case err != nil:
			return Binaries{}, fmt.Errorf("cannot use the programs in %s: %w", dir, err)
		case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
			return Binaries{}, fmt.Errorf("cannot use the programs in %s: %s is not an executable file", dir, program)
		}
	}
	if len(missing) > 0 {
		return Binaries{}, fmt.Errorf("%s has no %s: build them too, or give a folder that has them", dir,
			strings.Join(missing, ", "))
	}
	for _, program := range want {
		if err := provesVersion(ctx, filepath.Join(dir, program), v); err != nil {
			return Binaries{}, fmt.Errorf("cannot use the programs in %s as Kubernetes %s: %w", dir, v, err)
		}
	}
	return Binaries{Version: v.String(), Dir: dir, Own: true}, nil
}

// Build returns a text that changes when the user builds a program of an own build again; "" for the program of a
// release, which never changes.
func (b Binaries) Build(program string) (string, error) {
	if !b.Own {
		return "", nil
	}
	info, err := os.Stat(b.Path(program))
	if err != nil {
		return "", fmt.Errorf("look at the program of your own build: %w", err)
	}
	return fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano)), nil
}
