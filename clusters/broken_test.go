package clusters

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

func TestBreakage(t *testing.T) {
	server, scheduler := &BrokenError{
		Component: APIServer,
		Err:       errors.New("not ready"),
	}, &BrokenError{Component: Scheduler, Err: errors.New("ended")}
	stray := errors.New("no such folder")
	for name, test := range map[string]struct {
		err           error
		broken, other int
	}{
		"nothing":           {nil, 0, 0},
		"one":               {server, 1, 0},
		"wrapped":           {fmt.Errorf("bring the cluster there: %w", fmt.Errorf("roll: %w", server)), 1, 0},
		"two":               {errors.Join(server, fmt.Errorf("and: %w", scheduler)), 2, 0},
		"one and a stray":   {fmt.Errorf("x: %w", errors.Join(server, stray)), 1, 1},
		"a wrapped stray":   {fmt.Errorf("x: %w", stray), 0, 1},
		"several in a text": {fmt.Errorf("%w and %w", server, stray), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			broken, other := Breakage(test.err)
			if len(broken) != test.broken || len(other) != test.other {
				t.Errorf("got %v and %v", broken, other)
			}
		})
	}
}

// Only a process that ended by SIGKILL was killed from outside.
func TestKilled(t *testing.T) {
	for script, want := range map[string]bool{"kill -KILL $$": true, "kill -TERM $$": false, "exit 137": false} {
		err := exec.CommandContext(t.Context(), "sh", "-c", script).Run()
		if got := Killed(fmt.Errorf("it ended: %w", err)); got != want {
			t.Errorf("%s: got %t, want %t", script, got, want)
		}
	}
}
