package creation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// TestMain lets the test's own program have kind make a cluster.
func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// fakeEngine replaces docker by a script.
func fakeEngine(t *testing.T, script string) *engine.Engine {
	t.Helper()
	folder := t.TempDir()
	golden.Write(t, filepath.Join(folder, "docker"), "#!/bin/sh\n"+script)
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return &engine.Engine{Program: "docker"}
}

// refusingEngine has no container, and makes none. It writes what it is asked to run to $RUNS, one argument per line.
// kind requests all containers at once and ends with the first rejection. So a rejection comes only when all four have
// been requested, or after five seconds.
const refusingEngine = `case "$1 $2" in
"network ls") echo 1234 ;;
"info "*) echo '{"CgroupDriver": "cgroupfs", "CgroupVersion": "2", "MemoryLimit": true, "PidsLimit": true, "CPUShares": true}' ;;
"run "*)
  printf '%s\n' "$@" >> "$RUNS"
  for _ in $(seq 500); do [ "$(grep -c '^io.x-k8s.kind.role=' "$RUNS")" -ge 4 ] && break; sleep 0.01; done
  echo "no space left on device" >&2
  exit 125 ;;
esac
`

// kind runs in another process and starts another load balancer there, with all the arguments of kind's own one.
func TestMakeApart(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	t.Setenv("RUNS", runs)
	state := clusters.State{Version: "1.35.4", ControlPlanes: 3}
	dir := t.TempDir()
	config, err := settings.Config(state, "some/node:v1.35.4", filepath.Join(dir, nodes.FilesDir))
	golden.Must(t, err)
	golden.Must(t, settings.WriteFile(filepath.Join(dir, record.ConfigFile), string(config)))
	lock, err := os.Create(filepath.Join(dir, "lock"))
	golden.Must(t, err)
	defer lock.Close()
	executable, err := os.Executable()
	golden.Must(t, err)
	var said []string
	r, err := record.New(dir, "apart", state)
	golden.Must(t, err)
	c := &Creator{
		Engine: fakeEngine(t, refusingEngine), Executable: executable, Lock: lock, Record: r,
		Progress: func(format string, args ...any) { said = append(said, format) },
	}
	golden.Error(t, c.makeInSubprocess("my/balancer image:1"), "the disk is full: no space left on device")
	if all := golden.Read(t, runs); !strings.Contains(all,
		"\nmy/balancer image:1\nbash\n-c\nmkdir -p /home/envoy && echo -en '") ||
		!strings.Contains(all, "\nsome/node:v1.35.4\n") || strings.Contains(all, images.OfficialBalancer) {
		t.Errorf("the engine was asked to run:\n%s", all)
	}
	if len(said) < 2 {
		t.Errorf("of what kind said was passed on: %q", said)
	}
	c.Executable = ""
	golden.Error(t, c.makeInSubprocess("x"), "kind.Main")
}
