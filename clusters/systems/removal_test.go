package systems

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// What a simulator has created is removed, even if the simulator ends before it is ready, or never becomes ready.
func TestSimulatorThatDoesNotStart(t *testing.T) {
	for name, interrupted := range map[string]bool{"it ends": false, "it waits until the interrupt": true} {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			dir := t.TempDir()
			creates, ends := filepath.Join(dir, "creates"), filepath.Join(dir, "ends")
			for _, pipe := range []string{creates, ends} {
				golden.Must(t, syscall.Mkfifo(pipe, 0o600))
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			acted := make(chan error, 1)
			go func() { acted <- simulate(c, creates, ends, interrupted, cancel) }()
			s := newSet(t, c, Options{Simulators: Simulators{"x": {
				Command: []string{"sh", "-c", `echo > "$0"; read -r line < "$1"; exit 2`, creates, ends},
			}}})
			err := s.Converge(ctx, []clusters.System{{Name: "x", Simulated: &clusters.Simulated{}}})
			if err == nil || alive(s.system("x").process) {
				t.Errorf("got %v; its process runs: %t", err, alive(s.system("x").process))
			}
			golden.Must(t, <-acted)
			converge(t, s)
			if !slices.Equal(c.deleted, []string{crdName}) {
				t.Errorf("deleted %v, want the CRD", c.deleted)
			}
		})
	}
}

// simulate creates a CRD for a simulator when its process has started. Then it interrupts the test, or ends the
// process.
func simulate(c *fakeCluster, creates, ends string, interrupted bool, interrupt func()) error {
	if _, err := os.ReadFile(creates); err != nil { // waits for the process
		return err
	}
	c.putCRD(map[string]any{"managedFields": []any{map[string]any{"manager": "x-simulator"}}})
	if interrupted {
		interrupt()
		return nil
	}
	return os.WriteFile(ends, []byte("now\n"), 0o600)
}

// stubborn deletes everything but what is called "stuck".
type stubborn struct{ deleted []string }

func (s *stubborn) DeleteAll(ctx context.Context, all []objects.Reference) error {
	for _, r := range all {
		s.deleted = append(s.deleted, r.Name)
		if r.Name == "stuck" {
			<-ctx.Done()
		}
	}
	return ctx.Err()
}

// A system that cannot be removed leaves time for the others.
func TestCloseWithAStuckSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		deleter := &stubborn{}
		s := &Set{
			Options: Options{Progress: t.Logf}, deleter: deleter, spawner: processes.NewSpawner(), quit: func() {},
			places: &places.Places{},
		}
		s.add(clusters.System{Name: "first"}, []objects.Reference{{Name: "things"}})
		s.add(clusters.System{Name: "last"}, []objects.Reference{{Name: "stuck"}})
		err := s.Close(ctx, true)
		golden.Error(t, err, "end system last")
		if strings.Contains(err.Error(), "end system first") ||
			!slices.Equal(deleter.deleted, []string{"stuck", "things"}) {
			t.Errorf("deleted %v, %v", deleter.deleted, err)
		}
	})
}
