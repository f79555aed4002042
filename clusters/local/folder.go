package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// record is what a cluster's folder says of it (cluster.json): enough to find a lasting cluster again.
type record struct {
	Name string `json:"name"`
	// Lasting clusters outlive the command that made them; the others are removed with it, or by the next command.
	Lasting bool           `json:"lasting"`
	State   clusters.State `json:"state"`
	Ports   listening      `json:"ports"`
	// Processes by name: what runs, and how it was started.
	Processes map[string]started `json:"processes,omitempty"`
}

// started is a process and the command line it was started with.
type started struct {
	PID     int    `json:"pid"`
	LogFile string `json:"logFile"`
	Program string `json:"program"`
	// Version of Kubernetes; "" for what is none of its components.
	Version string   `json:"version,omitempty"`
	Args    []string `json:"args"`
	// Config is the content of the configuration file that it read, so that a change of it is seen.
	Config string `json:"config,omitempty"`
}

const (
	recordFile = "cluster.json"
	lockFile   = "lock"
)

var (
	errInUse = errors.New("in use by another rehearse")
	// ErrNotFound is returned for a cluster that does not exist.
	ErrNotFound = errors.New("no such cluster")
)

// lockFolder takes a cluster's folder for this process; the kernel gives it back however the process ends.
func lockFolder(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock cluster folder: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cluster %s: %w", filepath.Base(dir), errInUse)
	}
	return file, nil
}

func readRecord(dir string) (record, error) {
	var r record
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("cluster %q: %w", filepath.Base(dir), ErrNotFound)
	}
	if err != nil {
		return r, fmt.Errorf("read the record of cluster %s: %w", filepath.Base(dir), err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read the record of cluster %s: %w", filepath.Base(dir), err)
	}
	return r, nil
}

func writeRecord(dir string, r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record of cluster %s: %w", r.Name, err)
	}
	temporary := filepath.Join(dir, recordFile+".tmp")
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("write the record of cluster %s: %w", r.Name, err)
	}
	if err := os.Rename(temporary, filepath.Join(dir, recordFile)); err != nil {
		return fmt.Errorf("write the record of cluster %s: %w", r.Name, err)
	}
	return nil
}

// sweep removes what runs that were killed left behind: folders that nobody holds and that are not lasting clusters,
// with their processes. It returns the names of what it removed.
func sweep(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for left-over clusters: %w", err)
	}
	var removed []string
	var errs []error
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		lock, err := lockFolder(dir)
		if err != nil {
			continue // somebody's, and alive
		}
		if r, err := readRecord(dir); err != nil || !r.Lasting {
			errs = append(errs, removeFolder(dir))
			removed = append(removed, entry.Name())
		}
		_ = lock.Close()
	}
	return removed, errors.Join(errs...)
}

// removeFolder ends whatever still runs in a cluster's folder and removes it.
func removeFolder(dir string) error {
	if _, err := processes.KillOwned(dir + string(filepath.Separator)); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove cluster folder: %w", err)
	}
	return nil
}
