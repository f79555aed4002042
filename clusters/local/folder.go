package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// record is what a cluster's folder stores about it: enough to find a lasting cluster again.
type record struct {
	folders.Record

	Ports listening `json:"ports"`
	// Behind are the control planes that the last transition did not reach.
	Behind []int `json:"behind,omitempty"`
	// Processes by name: what runs, and how it was started.
	Processes map[string]started `json:"processes,omitempty"`
}

// started is a process and the command line it was started with.
type started struct {
	PID     int    `json:"pid"`
	LogFile string `json:"logFile"`
	Program string `json:"program"`
	// Version of Kubernetes; "" if the process is not one of its components.
	Version string `json:"version,omitempty"`
	// Build of the program (releases.Binaries.Build).
	Build string   `json:"build,omitempty"`
	Args  []string `json:"args"`
	// Config is the content of its configuration file, so that a change is noticed.
	Config string `json:"config,omitempty"`
}

// owner is the name by which the processes of a cluster's folder are found.
func owner(dir string) string { return dir + string(filepath.Separator) }

// removeFolder ends all processes of a cluster's folder and removes it.
func removeFolder(dir string) error {
	var r record
	_ = folders.Read(dir, &r) // a folder without a record has no processes of an older rehearse
	var recorded []int
	for _, process := range r.Processes {
		recorded = append(recorded, process.PID)
	}
	if err := processes.EndOwned(owner(dir), recorded...); err != nil {
		return fmt.Errorf("end the processes of the cluster in %s: %w", dir, err)
	}
	if err := removeAll(dir); err != nil {
		return fmt.Errorf("remove the folder of a cluster: %w", err)
	}
	return nil
}

// removeAll is os.RemoveAll, repeated if a file is created meanwhile: a thread of a killed program may finish its
// system call after the program seems to have ended.
func removeAll(dir string) error {
	for attempt := 1; ; attempt++ {
		err := os.RemoveAll(dir)
		if attempt == removeAttempts || !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
		time.Sleep(removePause)
	}
}

const (
	removeAttempts = 10
	removePause    = 20 * time.Millisecond
)
