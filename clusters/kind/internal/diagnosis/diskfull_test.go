package diagnosis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

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
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+answer+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		switch err := DiskFull(t.Context(), n); {
		case want != "":
			expectError(t, err, want)
		case err != nil:
			t.Errorf("%s: %v", answer, err)
		}
	}
}
