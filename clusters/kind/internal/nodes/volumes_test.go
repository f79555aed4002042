package nodes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Only the volumes of the cluster's own nodes are removed, and only if the engine does not remove them with the nodes.
func TestRemoveVolumes(t *testing.T) {
	const list = `v1 mine-control-plane
v2 mine-worker12
v3 mine-2-control-plane
v4 mine-workers
v5 yours-worker
v6
v7 other mine-worker`
	folder := t.TempDir()
	script := "#!/bin/sh\ncase \"$2\" in ls) echo '" + strings.ReplaceAll(list, "\n", "'; echo '") +
		"' ;; rm) echo \"$*\" >>" + filepath.Join(folder, "removed") + " ;; esac\n"
	for _, program := range []string{"podman", "docker"} {
		golden.Write(t, filepath.Join(folder, program), script)
	}
	t.Setenv("PATH", folder)
	for program, want := range map[string]string{"docker": "", "podman": "volume rm v1 v2 v7\n"} {
		_ = os.Remove(filepath.Join(folder, "removed"))
		golden.Must(t, removeVolumes(t.Context(), &engine.Engine{Program: program}, "mine"))
		if removed, _ := os.ReadFile(filepath.Join(folder, "removed")); string(removed) != want {
			t.Errorf("%s: removed %q, want %q", program, removed, want)
		}
	}
}
