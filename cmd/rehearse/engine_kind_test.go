package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// engineScript is a container engine with one node image, no container and a full disk.
const engineScript = `
case "$1 $2" in
"images "*) echo localhost/rehearse-node:v1.34.4 ;;
"image inspect") echo sha256:1234 ;;
"network ls") echo 1234 ;;
"info "*) echo '{"CgroupDriver": "cgroupfs", "CgroupVersion": "2", "MemoryLimit": true, "PidsLimit": true, "CPUShares": true}' ;;
"run "*) echo "docker: Error response from daemon: mkdir /var/lib/docker/overlay2/x: no space left on device." >&2; exit 125 ;;
esac
`

// A problem with the engine is reported in one sentence, and nothing of the run is left behind.
func TestKindSaysWhatIsWrongWithTheEngine(t *testing.T) {
	for _, test := range []struct {
		name, engine, version string
		controlPlanes         int
		code                  int
		said                  string
	}{
		{"none", "", "1.34.4", 1, cli.ExitBroken, "none of docker, nerdctl, podman is on the PATH: install one, or use " +
			"--provider local"},
		{
			"no daemon", "echo 'Cannot connect to the Docker daemon. Is the docker daemon running?' >&2; exit 1", "1.34.4", 1,
			cli.ExitBroken, "docker is installed but its daemon does not answer: start it",
		},
		{
			"no permission", "echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1",
			"1.34.4", 1, cli.ExitBroken, "docker is running, but this user may not use it: join the group of its socket",
		},
		{
			"no image",
			`case "$1" in image) echo "No such image" >&2; exit 1 ;; pull) echo "manifest unknown" >&2; exit 1 ;; esac`,
			"1.34.4", 1,
			cli.ExitBroken, "there is no node image docker.io/kindest/node:v1.34.4: docker pull --quiet " +
				"docker.io/kindest/node:v1.34.4: manifest unknown; build it (sudo rehearse node-images 1.34.4) or name your own",
		},
		{
			"no image of a minor version",
			`case "$1" in image) echo "No such image" >&2; exit 1 ;; manifest) echo "no such host" >&2; exit 1 ;; esac`,
			"1.34", 1,
			cli.ExitInput, "there is no local node image of Kubernetes 1.34, and the registry could not be asked for " +
				"docker.io/kindest/node:v1.34.4: docker manifest inspect docker.io/kindest/node:v1.34.4: no such host",
		},
		{
			"no image of a load balancer",
			`case "$1 $2 $5" in "image inspect "*node*) echo sha256:1 ;; "image inspect "*) echo "No such image" >&2; exit 1 ;; "pull "*) echo "no such host" >&2; exit 1 ;; esac`, "1.34.4", 3,
			cli.ExitBroken, "there is no image docker.io/envoyproxy/envoy:v1.36.2 for the load balancer that several control planes need: " +
				"docker pull --quiet docker.io/envoyproxy/envoy:v1.36.2: no such host; build one (sudo rehearse node-images VERSION) or " +
				"name your own (--node-image load-balancer=IMAGE)",
		},
		{
			"a full disk", engineScript, "1.34.4", 1, cli.ExitBroken,
			"the disk is full: docker: Error response from daemon: mkdir /var/lib/docker/overlay2/x: no space left on device.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache, programs := cacheOfVersion(t, "1.34.4"), t.TempDir()
			if test.engine != "" {
				golden.Write(t, filepath.Join(programs, "docker"), "#!/bin/sh\n"+test.engine)
			}
			t.Setenv("XDG_CACHE_HOME", cache)
			t.Setenv("PATH", programs)
			t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "")
			file := filepath.Join(t.TempDir(), "scenario.yaml")
			if err := os.WriteFile(file,
				[]byte(strings.ReplaceAll(ends, `"1.34"`, fmt.Sprintf("%q, controlPlanes: %d", test.version, test.controlPlanes))),
				0o600); err != nil {
				t.Fatal(err)
			}
			code, out, said := command(t, "run", "--provider", "kind", "--report-dir", t.TempDir(), file)
			if all := out + said; code != test.code || !strings.Contains(all, test.said) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s", code, test.code, test.said, all)
			}
			if left, _ := filepath.Glob(filepath.Join(cache, "rehearse", "kind", "clusters", "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
