package scratch

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// What a killed run has started for a folder ends before the folder goes. What uses another folder lives on.
func TestSweepEndsProcesses(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	used, removeUsed, err := Folder("used")
	golden.Must(t, err)
	killed := filepath.Join(temporary, prefix+"killed")
	golden.Must(t, os.Mkdir(killed, 0o700))
	lock, err := folders.Lock(killed)
	golden.Must(t, err)
	golden.Must(t, lock.Close())
	spawner := processes.NewSpawner()
	defer spawner.Close()
	pids := map[string]int{}
	for _, dir := range []string{used, killed} {
		p, err := spawner.Start(processes.Spec{
			Name: "sleeps", Program: "/bin/sleep", Args: []string{"1000"}, LogDir: t.TempDir(), Owner: Owner(dir),
		})
		golden.Must(t, err)
		t.Cleanup(func() { _ = p.Kill(context.WithoutCancel(t.Context())) })
		pids[dir] = p.PID
	}
	_, removeNext, err := Folder("next")
	golden.Must(t, err)
	if processes.Alive(pids[killed], Owner(killed)) {
		t.Error("what the killed run has started lives on")
	}
	if !processes.Alive(pids[used], Owner(used)) {
		t.Error("what uses another folder has ended")
	}
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("the folder of the killed run is still there: %v", err)
	}
	golden.Must(t, removeUsed())
	golden.Must(t, removeNext())
}
