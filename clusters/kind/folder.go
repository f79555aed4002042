package kind

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rehearse-dev/rehearse/clusters"
)

// record is what a cluster's folder says of it: that it is ours, and enough to find it again.
type record struct {
	Name string `json:"name"`
	// Lasting clusters outlive the command that made them; the others are removed with it, or by the next command.
	Lasting bool           `json:"lasting"`
	State   clusters.State `json:"state"`
	// Ours are the flags that were ever set by a state, each with the value that it had before; null where it was not there.
	Ours map[clusters.Component]map[string]*string `json:"ours,omitempty"`
	// CreationRevision names the scheduler configuration of the creation, SchedulerRevision the one now; empty while they are the same.
	CreationRevision  string `json:"creationRevision,omitempty"`
	SchedulerRevision string `json:"schedulerRevision,omitempty"`
	// Restarts counts those that were asked for.
	Restarts int `json:"restarts,omitempty"`
}

const (
	recordFile = "cluster.json"
	lockFile   = "lock"
	// Parts of a cluster's folder.
	nodeFilesDir   = "node"
	kubeconfigFile = "kubeconfig"
	configFile     = "kind.yaml"
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

// lockRoot keeps a folder that is being made from being taken for a left-over.
func (p *Provider) lockRoot() (unlock func(), err error) {
	if err := os.MkdirAll(p.Root, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for kind clusters: %w", err)
	}
	file, err := os.OpenFile(p.Root+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder for kind clusters: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the folder for kind clusters: %w", err)
	}
	return func() { _ = file.Close() }, nil
}

// claim makes and locks the folder of a new cluster.
func (p *Provider) claim(name string) (string, *os.File, error) {
	unlock, err := p.lockRoot()
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	dir := filepath.Join(p.Root, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return "", nil, fmt.Errorf("cluster %q exists; delete it with: rehearse cluster delete %s", name, name)
		}
		return "", nil, fmt.Errorf("make the folder of cluster %s: %w", name, err)
	}
	lock, err := lockFolder(dir)
	return dir, lock, err
}

func readRecord(dir string) (record, error) {
	var r record
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("cluster %q: %w", filepath.Base(dir), ErrNotFound)
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the record of cluster %s: %w", filepath.Base(dir), err)
	}
	return r, nil
}

func writeRecord(dir string, r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = writeFile(filepath.Join(dir, recordFile), string(data))
	}
	if err != nil {
		return fmt.Errorf("write the record of cluster %s: %w", r.Name, err)
	}
	return nil
}
