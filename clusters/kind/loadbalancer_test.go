package kind

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
)

// The image that is replaced is the one that kind of this version starts.
func TestOfficialBalancerIsKinds(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg", "cluster", "internal", "loadbalancer", "const.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), "/"+officialBalancer+`"`) {
		t.Errorf("kind starts no %s:\n%s", officialBalancer, source)
	}
}

func TestChooseBalancer(t *testing.T) {
	given, err := ParseNodeImages([]string{"1.34=x", "load-balancer=mine"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name            string
		images          NodeImages
		here, published []string
		want, problem   string
	}{
		{"given", given, []string{"mine", officialBalancer}, nil, "mine", ""},
		{"given and pulled", given, nil, []string{"mine"}, "mine", ""},
		{"official before ours", NodeImages{}, []string{nodeimage.BalancerTag, officialBalancer}, nil, officialBalancer, ""},
		{"ours before a pull", NodeImages{}, []string{nodeimage.BalancerTag}, []string{officialBalancer}, nodeimage.BalancerTag, ""},
		{"pulled", NodeImages{}, nil, []string{officialBalancer}, officialBalancer, ""},
		{"none", NodeImages{}, nil, nil, "", "there is no image " + officialBalancer + " for the load balancer that several control planes need: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.images.ensureBalancer(t.Context(), &fakeStore{here: c.here, published: c.published}, t.Logf)
			if expectError(t, err, c.problem); err == nil && got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	broken := errors.New("the engine is away")
	if _, err := (NodeImages{}).ensureBalancer(t.Context(), &fakeStore{broken: broken}, t.Logf); !errors.Is(err, broken) {
		t.Errorf("an engine that is away: %v", err)
	}
}

// fakeEngine puts a script in the place of docker.
func fakeEngine(t *testing.T, script string) *engine.Engine {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return &engine.Engine{Program: "docker"}
}

// An engine that has no container, and makes none. What it is asked to run is written down, an argument a line. Kind asks for all containers at once and ends
// with the first refusal: it comes when all four have been asked for, or after five seconds.
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

// Kind itself is run in another process, and asks there for another load balancer: with all the arguments that it has for its own.
func TestMakeApart(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	t.Setenv("RUNS", runs)
	state := clusters.State{Version: "1.35.4", ControlPlanes: 3}
	dir := t.TempDir()
	config, err := Config(state, "some/node:v1.35.4", filepath.Join(dir, nodeFilesDir))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(dir, configFile), string(config)); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	p := New(Options{CacheDir: t.TempDir(), Executable: executable, Progress: func(format string, args ...any) { said = append(said, format) }})
	c := &Cluster{provider: p, engine: fakeEngine(t, refusingEngine), dir: dir, lock: lock, record: record{Record: folders.Record{Name: "apart", State: state}}}
	expectError(t, c.makeApart("my/balancer image:1"), "the disk is full: no space left on device")
	data, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	if all := string(data); !strings.Contains(all, "\nmy/balancer image:1\nbash\n-c\nmkdir -p /home/envoy && echo -en '") || !strings.Contains(all, "\nsome/node:v1.35.4\n") || strings.Contains(all, officialBalancer) {
		t.Errorf("the engine was asked to run:\n%s", all)
	}
	if len(said) < 2 {
		t.Errorf("of what kind said was passed on: %q", said)
	}
	c.provider.Executable = ""
	expectError(t, c.makeApart("x"), "kind.Main")
}

// inspectingEngine lists the containers of $CONTAINERS, a file each.
const inspectingEngine = `case "$1" in
ps) ls "$CONTAINERS" ;;
inspect) for last do :; done; cat "$CONTAINERS/$last" ;;
esac
`

// A load balancer has no mark of ours. It is ours unless somebody else's node is in a cluster of the same name.
func TestWhoseTheBalancerIs(t *testing.T) {
	dir := "/folder"
	ours, theirs := "|/folder/node|", "|/somewhere|"
	for _, c := range []struct {
		name       string
		containers map[string]string
		want       []container
	}{
		{"with our nodes", map[string]string{"1": "/c-control-plane|true|control-plane" + ours, "2": "/c-external-load-balancer|true|external-load-balancer|"}, []container{
			{"c-control-plane", "control-plane", true}, {"c-external-load-balancer", "external-load-balancer", true},
		}},
		{"left alone", map[string]string{"2": "/c-external-load-balancer|false|external-load-balancer|"}, []container{{"c-external-load-balancer", "external-load-balancer", false}}},
		{"with somebody else's nodes", map[string]string{"1": "/c-control-plane|true|control-plane" + theirs, "2": "/c-external-load-balancer|true|external-load-balancer|"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			for id, text := range c.containers {
				if err := os.WriteFile(filepath.Join(folder, id), []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("CONTAINERS", folder)
			got, err := ownContainers(t.Context(), fakeEngine(t, inspectingEngine), "c", dir)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestHasLeader(t *testing.T) {
	for metrics, want := range map[string]string{"# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 1\n": "", "# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 0\n": "knows no leader", "": "knows no leader"} {
		expectError(t, hasLeader([]byte(metrics)), want)
	}
}
