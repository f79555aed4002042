package kind

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// A disk that fills up while a control plane starts is told as that; what cannot be seen is no full disk.
func TestDiskFull(t *testing.T) {
	program := filepath.Join(t.TempDir(), "engine")
	n := node{engine: &engine.Engine{Program: program}, name: "c-control-plane"}
	for answer, want := range map[string]string{
		"echo ' 63'":    "the disk is full: the container engine has 63 MB left for node c-control-plane",
		"echo ' 64'":    "",
		"echo nothing":  "",
		"echo 3; false": "",
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+answer+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		switch err := n.diskFull(t.Context()); {
		case want != "":
			expectError(t, err, want)
		case err != nil:
			t.Errorf("%s: %v", answer, err)
		}
	}
}
