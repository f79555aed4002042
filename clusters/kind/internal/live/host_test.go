package live

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The gateway counts only if a server of this machine can listen on it. Otherwise no system may be a process here.
func TestHost(t *testing.T) {
	const route = "exec n sh -euc ip -4 route show default sh"
	for name, c := range map[string]struct {
		program, script string
		gateway, want   string
	}{
		"docker": {"docker", `[ "$1" = inspect ] && echo "127.0.0.1 10.1.1.1 "`, "127.0.0.1", ""},
		"rootless": {
			"podman", `[ "$1" = inspect ] && echo "192.0.2.1 "`, "",
			"as with a rootless engine: listen tcp 192.0.2.1",
		},
		"none":    {"docker", `echo " "`, "", "their network has no gateway"},
		"nerdctl": {"nerdctl", `[ "$*" = "` + route + `" ] && echo "default via 127.0.0.1 dev eth0"`, "127.0.0.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			golden.Write(t, filepath.Join(bin, c.program), "#!/bin/sh\n"+c.script)
			t.Setenv("PATH", bin)
			host, err := findHost(t.Context(), nodes.Node{Engine: &engine.Engine{Program: c.program}, Name: "n"})
			if err != nil || host.Address != c.gateway {
				t.Errorf("got %q, %v; want %q", host.Address, err, c.gateway)
			}
			files := clusters.System{Name: "files", Manifests: []string{"x.yaml"}}
			if err := host.CheckSystems([]clusters.System{files}); err != nil {
				t.Errorf("manifests: %v", err)
			}
			err = host.CheckSystems([]clusters.System{files, {Name: "lws", Simulated: &clusters.Simulated{}}})
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "system lws runs as a process on this machine")) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
