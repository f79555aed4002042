package upgrade

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A survey ends as soon as a program has exited, and not before.
func TestASurveyEndsWithAProgram(t *testing.T) {
	death := errors.New("policy ended by itself: exit status 3")
	var looks atomic.Int32
	ctx, stop := whileRunning(t.Context(), func() error {
		if looks.Add(1) < 3 {
			return nil
		}
		return death
	}, time.Millisecond)
	defer stop()
	<-ctx.Done()
	if got := context.Cause(ctx); !errors.Is(got, death) || looks.Load() != 3 {
		t.Errorf("after %d looks: %v", looks.Load(), got)
	}
}

// If all programs run, the context ends with its survey.
func TestASurveyOfRunningPrograms(t *testing.T) {
	ctx, stop := whileRunning(t.Context(), func() error { return nil }, time.Hour)
	if err := ctx.Err(); err != nil {
		t.Errorf("it ends at once: %v", err)
	}
	if stop(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("it goes on: %v", context.Cause(ctx))
	}
}
