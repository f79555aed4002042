package harness

import (
	"context"
	"time"

	"github.com/rehearse-dev/rehearse/harness/pauses"
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
	again := pauses.Growing(25*time.Millisecond, 500*time.Millisecond)
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
		if !pauses.Wait(ctx, again) {
			return last.result()
		}
	}
}
