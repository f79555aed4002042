//go:build linux

package processes

import (
	"context"
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A killed process may still be there for a while, and may have started another one.
func TestUntilNone(t *testing.T) {
	left := []int{2, 1, 1, 0}
	err := untilNone(t.Context(), func() (int, error) {
		n := left[0]
		left = left[1:]
		return n, nil
	})
	if err != nil || len(left) > 0 {
		t.Errorf("got %v before all had ended: %v", err, left)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	golden.Error(t, untilNone(over, func() (int, error) { return 2, nil }), "wait for the end of 2 killed processes")
	denied := errors.New("not permitted")
	if err := untilNone(t.Context(), func() (int, error) { return 0, denied }); !errors.Is(err, denied) {
		t.Errorf("got %v", err)
	}
}

// After EndOwned, no process with the owner is left.
func TestEndOwned(t *testing.T) {
	dir := t.TempDir() + "/"
	mine := start(t, NewSpawner(), Spec{
		Name: "mine", Program: "/bin/sh", Owner: dir,
		Args: []string{"-c", "setsid /bin/sh -c 'echo started; exec sleep 1000' & wait"},
	})
	awaitLine(t, mine.LogFile, "started")
	golden.Must(t, EndOwned(dir))
	if n, err := killOwned(dir); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
}
