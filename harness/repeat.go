package harness

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/rehearse-dev/rehearse/reports"
)

// try is what came of looking once at something that no watch tells of.
type try struct {
	// problem says what differs from what was expected; "" where nothing does.
	problem string
	// undecided: nobody could look.
	undecided bool
	// final: looking again would not help.
	final    bool
	evidence string
	values   map[string]any
}

func (t try) result() result {
	r := result{values: t.values}
	r.Status, r.Message, r.Evidence = reports.Passed, t.problem, t.evidence
	switch {
	case t.problem == "":
	case t.undecided:
		r.Status = reports.Error
	default:
		r.Status = reports.Failed
	}
	return r
}

// repeat looks until all is as expected, looking again would not help, or the context ends. A look that the end cut
// short does not count when there was one before it. What is new since the look before is recorded.
func repeat(ctx context.Context, record func(string), look func() try) result {
	pauses := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(25*time.Millisecond), backoff.WithMaxInterval(500*time.Millisecond),
		backoff.WithMaxElapsedTime(0))
	var last *try
	for {
		t := look()
		if t.problem == "" || t.final {
			return t.result()
		}
		if last == nil || ctx.Err() == nil || !t.undecided {
			if last == nil || last.problem != t.problem {
				record(t.problem)
			}
			last = &t
		}
		timer := time.NewTimer(pauses.NextBackOff())
		select {
		case <-ctx.Done():
			timer.Stop()
			return last.result()
		case <-timer.C:
		}
	}
}
