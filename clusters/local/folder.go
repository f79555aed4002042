package local

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/processes"
)

// record is what a cluster's folder says of it: enough to find a lasting cluster again.
type record struct {
	folders.Record

	Ports listening `json:"ports"`
	// Behind are the control planes that the last transition did not come to.
	Behind []int `json:"behind,omitempty"`
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
