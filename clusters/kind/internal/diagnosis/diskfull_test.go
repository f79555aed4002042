package diagnosis

import (
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A disk without enough space for a control plane is reported as full; a disk whose free space is unknown is not.
func TestDiskFull(t *testing.T) {
	program := filepath.Join(t.TempDir(), "engine")
	n := nodes.Node{Engine: &engine.Engine{Program: program}, Name: "c-control-plane"}
	for answer, want := range map[string]string{
		"echo ' 63'":    "the disk is full: the container engine has 63 MB left for node c-control-plane",
		"echo ' 64'":    "",
		"echo nothing":  "",
		"echo 3; false": "",
	} {
		golden.Write(t, program, "#!/bin/sh\n"+answer+"\n")
		switch err := DiskFull(t.Context(), n); {
		case want != "":
			golden.Error(t, err, want)
		case err != nil:
			t.Errorf("%s: %v", answer, err)
		}
	}
}
