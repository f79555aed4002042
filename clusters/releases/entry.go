package releases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
)

// entry is a version in the cache: CacheDir/kubernetes/v1.34.4/linux-amd64/<program> and a manifest there, or
// CacheDir/modules/<path>@<version>/linux-amd64/<program>.
type entry struct {
	// version of Kubernetes; empty for a module.
	version clusters.Version
	// what is its name for messages, recorded the version in the manifest.
	what, recorded string
	// home is the folder of the version, dir the folder of its programs for this platform.
	home, dir string
}

const (
	manifestName = "manifest.json"
	tempPrefix   = ".tmp-"
	lockName     = "programs.lock"
)

// lacking lists the programs that differ from the manifest. It checks only mode, size and time.
func (e entry) lacking(want []string) ([]string, error) {
	m, err := readManifest(e.dir)
	if err != nil {
		return nil, err
	}
	var lacking []string
	for _, program := range want {
		r, recorded := m.Programs[program]
		info, err := os.Stat(filepath.Join(e.dir, program))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot look at a program in the cache: %w", err)
		}
		if err != nil || !recorded || !r.fits(info) {
			lacking = append(lacking, program)
		}
	}
	return lacking, nil
}

// repair is lacking with a check of the contents: if only the time of a file has changed, it is recorded again; a
// broken file is lacking. The caller holds the lock.
func (e entry) repair(ctx context.Context, want []string, progress clusters.Progress) ([]string, error) {
	suspects, err := e.lacking(want)
	if errors.Is(err, errBrokenManifest) {
		progress("%v: getting the programs of %s again", err, e.what)
		return want, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := readManifest(e.dir)
	if err != nil {
		return nil, err
	}
	var lacking []string
	for _, program := range suspects {
		r, recorded := m.Programs[program]
		fresh, err := record(filepath.Join(e.dir, program))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist) || err == nil && !recorded:
			lacking = append(lacking, program)
		case err != nil:
			return nil, fmt.Errorf("cannot check a program in the cache: %w", err)
		case fresh.SHA256 != r.SHA256:
			progress("%s in %s is no longer what was stored: getting it again", program, e.dir)
			lacking = append(lacking, program)
		default:
			fresh.Source = r.Source
			m.Programs[program] = fresh
			if err := os.Chmod(filepath.Join(e.dir, program), 0o755); err != nil {
				return nil, fmt.Errorf("cannot make a program in the cache executable: %w", err)
			}
		}
	}
	if len(suspects) > len(lacking) {
		return lacking, m.write(e.dir)
	}
	return lacking, nil
}

// publish moves programs from a temporary folder into the entry and records them. They are valid as soon as the
// manifest is renamed.
func (e entry) publish(temp string, programs []string, source string) error {
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return fmt.Errorf("cannot make a folder of the cache: %w", err)
	}
	m, err := readManifest(e.dir)
	if err != nil && !errors.Is(err, errBrokenManifest) {
		return err
	}
	m.Version = e.recorded
	for _, program := range programs {
		from, to := filepath.Join(temp, program), filepath.Join(e.dir, program)
		r, err := record(from)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", program, err)
		}
		if err := os.Rename(from, to); err != nil {
			return fmt.Errorf("cannot put %s into the cache: %w", program, err)
		}
		r.Source = source
		m.Programs[program] = r
	}
	return m.write(e.dir)
}

// tempDir makes a folder beside the programs, on the same file system, and returns a function that removes it.
func (e entry) tempDir() (string, func(), error) {
	dir, err := os.MkdirTemp(e.home, tempPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("cannot make a temporary folder in the cache: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil // the next holder of the lock removes what stays
}

// removeLeftovers removes temporary files of killed runs. The caller holds the lock, so none is in use.
func (e entry) removeLeftovers() error {
	return errors.Join(removeTemporary(e.home, tempPrefix), removeTemporary(e.dir, tempPrefix))
}

func removeTemporary(dir, prefix string) error {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read the cache: %w", err)
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), prefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, f.Name())); err != nil {
			return fmt.Errorf("cannot remove what a killed run left in the cache: %w", err)
		}
	}
	return nil
}

// lock locks the entry against every other process and goroutine until the returned function is called.
func (e entry) lock(ctx context.Context, name string, progress clusters.Progress) (func(), error) {
	if err := os.MkdirAll(e.home, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make a folder of the cache: %w", err)
	}
	return folders.Await(ctx, filepath.Join(e.home, name), func() {
		progress("waiting for another run that gets %s", e.what)
	})
}
