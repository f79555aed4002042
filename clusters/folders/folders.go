// Package folders stores a provider's data about its clusters on this machine: one folder per cluster, locked by its
// user.
package folders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// Record is the minimal content of a cluster's record (cluster.json); providers embed it.
type Record struct {
	Name string `json:"name"`
	// Lasting clusters outlive the command that created them. The others are removed with it, or by the next command.
	Lasting bool           `json:"lasting"`
	State   clusters.State `json:"state"`
}

// RecordFile is the record's name in its folder.
const RecordFile = "cluster.json"

const lockFile = "lock"

// lockPoll is the time between two attempts to get a lock.
const lockPoll = 200 * time.Millisecond

// ErrInUse is returned for a cluster that another process has locked.
var ErrInUse = errors.New("in use by another rehearse")

// Lock locks a cluster's folder for this process. The kernel releases the lock, however the process ends.
func Lock(dir string) (*os.File, error) { return lock(dir, os.O_CREATE|os.O_RDWR) }

// LockAgain locks a folder that was locked before. The error is os.ErrNotExist if it has no lock file.
func LockAgain(dir string) (*os.File, error) { return lock(dir, os.O_RDWR) }

func lock(dir string, flags int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of a cluster: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(fmt.Errorf("lock the folder of cluster %s: %w", filepath.Base(dir), err), file.Close())
	}
	return file, nil
}

// Open locks the folder of a cluster for this process, and reads its record into r. The user before may have changed
// the record until it released the lock, so only what is read under the lock counts.
func Open(dir string, r any) (lock *os.File, err error) {
	// Without a record there is no cluster, and no lock file may appear: its owner may be removing the folder.
	if err := Read(dir, new(Record)); err != nil {
		return nil, err
	}
	if lock, err = Lock(dir); err != nil {
		return nil, err
	}
	if err := Read(dir, r); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Await locks a file until unlock is called, and waits as long as another process or goroutine has it locked; it calls
// waiting once if it has to. The kernel releases the lock, however the process ends.
func Await(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil // closing releases the lock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
		}
		if !told {
			waiting()
		}
		if !pauses.For(ctx, lockPoll) {
			return nil, errors.Join(fmt.Errorf("waiting for the lock of %s: %w", path, context.Cause(ctx)), file.Close())
		}
	}
}

// Read reads a folder's record into r; errors.Is(err, clusters.ErrNotFound) when there is none.
func Read(dir string, r any) error {
	data, err := os.ReadFile(filepath.Join(dir, RecordFile))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cluster %q: %w", filepath.Base(dir), clusters.ErrNotFound)
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return fmt.Errorf("read the record of cluster %s: %w", filepath.Base(dir), err)
	}
	return nil
}

// Write writes a folder's record atomically.
func Write(dir string, r any) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = writeFile(filepath.Join(dir, RecordFile), data)
	}
	if err != nil {
		return fmt.Errorf("write the record of cluster %s: %w", filepath.Base(dir), err)
	}
	return nil
}

// writeFile writes a file atomically, mode 0600.
func writeFile(path string, data []byte) error {
	temporary := path + ".tmp"
	if err := writeSynced(temporary, data); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return os.Rename(temporary, path)
}

// writeSynced writes a file so that a power failure after it leaves the whole content.
func writeSynced(path string, data []byte) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

// Root is the folder of a provider's folders.
type Root string

// lock prevents Sweep from removing a folder that is being created. It waits for another process that has the lock.
func (r Root) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(string(r), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for clusters: %w", err)
	}
	unlock, err = Await(ctx, string(r)+".lock", func() {})
	if err != nil {
		return nil, fmt.Errorf("lock the folder for clusters: %w", err)
	}
	return unlock, nil
}

// Claim makes and locks the folder of a new cluster.
func (r Root) Claim(ctx context.Context, name string) (dir string, lock *os.File, err error) {
	unlock, err := r.lock(ctx)
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	dir = filepath.Join(string(r), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return "", nil, fmt.Errorf("cluster %q exists; delete it with: rehearse cluster delete %s", name, name)
		}
		return "", nil, fmt.Errorf("make the folder of cluster %s: %w", name, err)
	}
	if lock, err = Lock(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// Lasting lists the names of the clusters that outlive their process.
func (r Root) Lasting() ([]string, error) {
	names, err := r.names()
	var lasting []string
	for _, name := range names {
		if lasts, err := r.lasts(name); lasts && err == nil {
			lasting = append(lasting, name)
		}
	}
	return lasting, err
}

func (r Root) names() ([]string, error) {
	entries, err := os.ReadDir(string(r))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// lasts reports whether a cluster is lasting. It reads no more of the record, which another version may have written.
func (r Root) lasts(name string) (bool, error) {
	var record struct {
		Lasting bool `json:"lasting"`
	}
	err := Read(filepath.Join(string(r), name), &record)
	if errors.Is(err, clusters.ErrNotFound) {
		return false, nil // its owner was killed before it wrote the record
	}
	return record.Lasting, err
}

// Sweep removes the left-overs of killed runs: the clusters that no process has locked and that are not lasting. It
// returns the names of those that have a lock file. A folder without one was never a cluster, or its owner is removing
// it. Sweep leaves a cluster that may be lasting, and returns an error.
func (r Root) Sweep(ctx context.Context, remove func(name, dir string) error) (removed []string, err error) {
	unlock, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	names, err := r.names()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range names {
		dir := filepath.Join(string(r), name)
		// Do not create a missing lock file: the owner may be removing the folder, which must become empty.
		held, err := LockAgain(dir)
		switch {
		case errors.Is(err, ErrInUse):
			continue // its owner is alive
		case err != nil && !errors.Is(err, os.ErrNotExist):
			errs = append(errs, err)
			continue
		}
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			continue // its owner removed it
		}
		lasts, err := r.lasts(name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%w; if you do not need this cluster, delete the folder %s", err, dir))
		case lasts:
		default:
			if err := remove(name, dir); err != nil {
				errs = append(errs, err)
			} else if held != nil {
				removed = append(removed, name)
			}
		}
		_ = held.Close() // nil if there was no lock file; its error does not matter
	}
	return removed, errors.Join(errs...)
}
