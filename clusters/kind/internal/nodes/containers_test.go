package nodes

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fakeEngine replaces docker by a script.
func fakeEngine(t *testing.T, script string) *engine.Engine {
	t.Helper()
	folder := t.TempDir()
	golden.Write(t, filepath.Join(folder, "docker"), "#!/bin/sh\n"+script)
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return &engine.Engine{Program: "docker"}
}

// inspectingEngine lists and inspects the containers in the folder $CONTAINERS, one file each.
const inspectingEngine = `case "$1" in
ps) ls "$CONTAINERS" ;;
inspect) for last do :; done; cat "$CONTAINERS/$last" ;;
esac
`

// A load balancer has no mounts that show its owner. It is ours unless the cluster has a node that is not ours.
func TestWhoseTheBalancerIs(t *testing.T) {
	dir := "/folder"
	ours, theirs := "|/folder/node|", "|/somewhere|"
	for _, c := range []struct {
		name       string
		containers map[string]string
		want       []Container
	}{
		{
			"with our nodes",
			map[string]string{
				"1": "/c-control-plane|true|control-plane" + ours,
				"2": "/c-external-load-balancer|true|external-load-balancer|",
			},
			[]Container{
				{"c-control-plane", "control-plane", true}, {"c-external-load-balancer", "external-load-balancer", true},
			},
		},
		{
			"left alone",
			map[string]string{"2": "/c-external-load-balancer|false|external-load-balancer|"},
			[]Container{{"c-external-load-balancer", "external-load-balancer", false}},
		},
		{
			"with somebody else's nodes",
			map[string]string{
				"1": "/c-control-plane|true|control-plane" + theirs,
				"2": "/c-external-load-balancer|true|external-load-balancer|",
			},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			for id, text := range c.containers {
				golden.Write(t, filepath.Join(folder, id), text+"\n")
			}
			t.Setenv("CONTAINERS", folder)
			got, err := Own(t.Context(), fakeEngine(t, inspectingEngine), "c", dir)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// The processes of a cluster's systems end with it.
func TestRemoveEndsProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	golden.Must(t, os.Mkdir(dir, 0o700))
	process, err := processes.NewSpawner().Start(processes.Spec{
		Name: "operator", Program: "/bin/sh", Args: []string{"-c", "exec sleep 1000"}, LogDir: dir,
		Owner: dir + string(filepath.Separator), Detached: true,
	})
	golden.Must(t, err)
	golden.Must(t, Remove(t.Context(), fakeEngine(t, "exit 0\n"), "c", dir))
	<-process.Done()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
