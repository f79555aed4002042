package local

import (
	"fmt"
	"os"
	"path/filepath"

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
	Version string   `json:"version,omitempty"`
	Args    []string `json:"args"`
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
	if _, err := processes.KillOwned(owner(dir), recorded...); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove cluster folder: %w", err)
	}
	return nil
}
