package harness

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness/load"
)

// A load is down if a request that was sent late enough after the step's own action has no answer.
func TestSettle(t *testing.T) {
	for name, test := range map[string]struct {
		rate float64
		// away is when the API server is back, after the first request was sent. The step's action ends 100 ms after it.
		away time.Duration
		down bool
		says string
	}{
		"a fast load":       {10, time.Second, false, ""},
		"away for too long": {10, time.Minute, true, "no request was answered within 15.1s"},
		"the next request of a slow load comes late": {0.05, time.Second, false, ""},
		"the one after it is late, too":              {0.05, 30 * time.Second, true, "no request was answered within 35s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				l := &stepLoad{began: began}
				l.running = load.Load{
					Rate: test.rate, Clock: clock.RealClock{},
					Send: func(context.Context, int64) load.Answer {
						if time.Since(began) < test.away {
							return load.Answer{Text: "connection refused"}
						}
						return load.Answer{Outcome: load.Accepted}
					},
				}.Start(t.Context())
				time.Sleep(100 * time.Millisecond)
				(&during{loads: []*stepLoad{l}}).settle(t.Context(), true)
				record := l.running.Stop()
				problems := strings.Join(l.problems(record), "\n")
				if l.down.Load() != test.down || !strings.Contains(problems, test.says) {
					t.Errorf("down: %t, want %t: %s", l.down.Load(), test.down, problems)
				}
				record.StoodStill = time.Minute
				problems = strings.Join(l.problems(record), "\n")
				if undecided := l.undecided(record); problems != "" || len(undecided) > 0 != test.down {
					t.Errorf("after a standstill: problems %q, undecided %q", problems, undecided)
				}
			})
		})
	}
}
