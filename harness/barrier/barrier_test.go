package barrier

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestBarrierCrossesOnceForAll(t *testing.T) {
	const scenarios, transitions = 20, 5
	var mu sync.Mutex
	crossed, arrived := 0, 0
	b := New(scenarios, func(n int) error {
		mu.Lock()
		defer mu.Unlock()
		if n != crossed || arrived != scenarios*(n+1) {
			t.Errorf("crossing %d when %d had crossed and %d had arrived", n, crossed, arrived)
		}
		crossed++
		return nil
	})
	var running sync.WaitGroup
	for range scenarios {
		running.Go(func() {
			defer b.Leave()
			for range transitions {
				mu.Lock()
				arrived++
				mu.Unlock()
				if _, err := b.Arrive(t.Context(), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if crossed != transitions {
		t.Errorf("crossed %d times, want %d", crossed, transitions)
	}
}

func TestBarrierDoesNotWaitForWhoLeft(t *testing.T) {
	b := New(3, func(int) error { return nil })
	b.Leave()
	arriveAndLeave(t, b)
}

func TestBarrierWithoutAnyoneDoesNotCross(t *testing.T) {
	b := New(2, func(int) error { t.Error("crossed"); return nil })
	b.Leave()
	b.Leave()
}

func TestBarrierTellsAllWhatCameOfIt(t *testing.T) {
	want := errors.New("the gate is locked")
	b := New(2, func(int) error { return want })
	times := make(chan time.Duration)
	for range 2 {
		go func() {
			crossing, err := b.Arrive(t.Context(), nil)
			if !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
			times <- crossing
		}()
	}
	if one, other := <-times, <-times; one != other || one <= 0 {
		t.Errorf("the crossing took %s for one and %s for the other, want the same", one, other)
	}
}

func TestBarrierGivesUpWithItsContext(t *testing.T) {
	b := New(2, func(int) error { return nil })
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := b.Arrive(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	// A scenario that gave up does not count as arrived, so the other one waits until it leaves.
	arriveAndLeave(t, b)
	if b.crossed != 1 {
		t.Errorf("crossed %d times, want 1", b.crossed)
	}
}

// arriveAndLeave lets one scenario arrive, and the other leave.
func arriveAndLeave(t *testing.T, b *Barrier) {
	t.Helper()
	done := make(chan error)
	go func() {
		_, err := b.Arrive(t.Context(), nil)
		done <- err
	}()
	b.Leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
