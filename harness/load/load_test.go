package load_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness/load"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// answers returns a load. Each of its requests takes the given time and then gets an answer.
func answers(took time.Duration, answer func(n int64, at time.Duration) load.Answer) load.Load {
	began := time.Now()
	return load.Load{Name: "it", Clock: clock.RealClock{}, Send: func(ctx context.Context, n int64) load.Answer {
		at := time.Since(began)
		select {
		case <-time.After(took):
			return answer(n, at)
		case <-ctx.Done():
			return load.Answer{Text: "no answer in time"}
		}
	}}
}

func good(int64, time.Duration) load.Answer { return load.Answer{Outcome: load.Accepted} }

// away is a server that refuses connections from 2s to 5s after the start.
func away(_ int64, at time.Duration) load.Answer {
	if at >= 2*time.Second && at < 5*time.Second {
		return load.Answer{Text: "connection refused"}
	}
	return load.Answer{Outcome: load.Accepted}
}

func TestRecords(t *testing.T) {
	for name, test := range map[string]struct {
		took   time.Duration
		rate   float64
		answer func(int64, time.Duration) load.Answer
	}{
		"all are accepted":  {10 * time.Millisecond, 0, good},
		"slow":              {700 * time.Millisecond, 20, good},
		"an outage":         {10 * time.Millisecond, 0, away},
		"no answers at all": {time.Minute, 10, good},
		"rejections": {time.Millisecond, 2, func(n int64, _ time.Duration) load.Answer {
			return load.Answer{Outcome: load.Rejected, Unexpected: n%2 == 0, Text: strings.Repeat("no", int(n+1)), Alike: "no"}
		}},
		"no answer any more": {time.Millisecond, 0, func(_ int64, at time.Duration) load.Answer {
			if at > 9*time.Second {
				return load.Answer{Text: "it is gone"}
			}
			return load.Answer{Outcome: load.Accepted}
		}},
		"many reasons": {time.Millisecond, 1, func(n int64, _ time.Duration) load.Answer {
			return load.Answer{Text: string(rune('a' + n))}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := answers(test.took, test.answer)
				// No request may time out at the same moment as a tick, because their order is undefined.
				l.Rate, l.Timeout = test.rate, 5050*time.Millisecond
				running := l.Start(t.Context())
				time.Sleep(10*time.Second - time.Nanosecond)
				record := running.Stop()
				golden.Check(t, "testdata/"+strings.ReplaceAll(name, " ", "-")+".golden",
					strings.Join(append([]string{record.String()}, record.Details()...), "\n")+"\n")
			})
		})
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := answers(10*time.Millisecond, away).Start(t.Context())
		time.Sleep(10*time.Second - time.Nanosecond)
		record := running.Stop()
		none, thirty, second, hour := 0, 30.0, scenarios.Duration(time.Second), scenarios.Duration(time.Hour)
		thirtyOne := 31
		for want, allowed := range map[string]*scenarios.Limits{
			"30 of 100 requests failed; allowed: 0":                    {Failures: &none},
			"without an answer for 3.1s (from +1.91s on); allowed: 1s": {Outage: second},
			"latency p99 is 10ms; allowed: 1ms": {Latency: &scenarios.Latency{
				P50: hour, P90: hour,
				P99: scenarios.Duration(time.Millisecond), Max: hour,
			}},
			"latency max is 10ms; allowed: 1ms": {Latency: &scenarios.Latency{Max: scenarios.Duration(time.Millisecond)}},
			"": {
				Failures: &thirtyOne, FailurePercent: &thirty,
				Outage: hour,
			},
		} {
			if got := strings.Join(record.Beyond(allowed), "\n"); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		if got := record.Beyond(nil); got != nil {
			t.Errorf("beyond no limits: %q", got)
		}
	})
}

// At most 16 requests wait for an answer at the same time, however slow the server is.
func TestBoundedConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		var mu sync.Mutex
		l := load.Load{Name: "it", Rate: 100, Timeout: time.Minute, Clock: clock.RealClock{}, Send: func(ctx context.Context,
			_ int64,
		) load.Answer {
			mu.Lock()
			most.Store(max(most.Load(), now.Add(1)))
			mu.Unlock()
			defer now.Add(-1)
			time.Sleep(30 * time.Second)
			return load.Answer{Outcome: load.Accepted}
		}}
		running := l.Start(t.Context())
		time.Sleep(20 * time.Second)
		if record := running.Stop(); most.Load() != 16 || record.Sent != 16 || record.LeftOut < 1900 {
			t.Errorf("%d at the same time, %d sent, %d left out", most.Load(), record.Sent, record.LeftOut)
		}
	})
}

// Answered ignores failed requests, and those that were sent before the given time.
func TestAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		running := answers(10*time.Millisecond, func(_ int64, at time.Duration) load.Answer {
			if at < 3*time.Second {
				return load.Answer{Text: "connection refused"}
			}
			return load.Answer{Outcome: load.Rejected, Unexpected: true}
		}).Start(t.Context())
		defer running.Stop()
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if running.Answered(short, began) {
			t.Error("a failure counts as an answer")
		}
		if !running.Answered(t.Context(), began.Add(4*time.Second)) || time.Since(began) < 4*time.Second {
			t.Errorf("after %s", time.Since(began))
		}
	})
}

// The next request of a load is answered, or has failed, after its interval and its timeout.
func TestNext(t *testing.T) {
	for _, test := range []struct {
		load load.Load
		want time.Duration
	}{
		{load.Load{}, 5*time.Second + 100*time.Millisecond},
		{load.Load{Rate: 0.05}, 25 * time.Second},
		{load.Load{Rate: 2, Timeout: time.Minute}, time.Minute + 500*time.Millisecond},
	} {
		test.load.Clock = clock.RealClock{}
		test.load.Send = func(context.Context, int64) load.Answer { return load.Answer{} }
		running := test.load.Start(t.Context())
		if got := running.Next(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
		running.Stop()
	}
}

// Requests that are in progress when the run is stopped are not counted.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		running := answers(500*time.Millisecond, good).Start(ctx)
		time.Sleep(2*time.Second + time.Nanosecond)
		cancel()
		if record := running.Stop(); record.Failed != 0 || record.Accepted != 16 {
			t.Errorf("%s", record)
		}
	})
}

// Requests that nobody answers fail by their own timeout, long after the server answers again. The outage is the time
// without answers, not the time of their ends.
func TestAnOutageOfRequestsThatTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := load.Load{Name: "it", Clock: clock.RealClock{}, Rate: 10, Timeout: 5050 * time.Millisecond}
		l.Send = func(ctx context.Context, _ int64) load.Answer {
			if at := time.Since(began); at >= 2*time.Second && at < 3*time.Second {
				<-ctx.Done()
				return load.Answer{Text: "no answer in time"}
			}
			return load.Answer{Outcome: load.Accepted}
		}
		running := l.Start(t.Context())
		time.Sleep(10*time.Second - time.Nanosecond)
		record := running.Stop()
		if len(record.Outages) != 1 || record.Longest < time.Second || record.Longest > 1200*time.Millisecond {
			t.Errorf("outages %+v, the longest of %s; want one of about a second", record.Outages, record.Longest)
		}
	})
}
