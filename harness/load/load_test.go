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

// Requests that would have been sent during an outage, had there been room, count as failed. Those that a slow server
// leaves no room for do not.
func TestMissed(t *testing.T) {
	none, percent := 0, 50.0
	for name, test := range map[string]struct {
		hangs  bool
		beyond string
	}{
		"it hangs": {true, "606 of 1000 requests failed (510 of them were not sent, because too many others waited for an " +
			"answer); allowed: 0"},
		"it is slow": {false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				l := load.Load{Name: "it", Clock: clock.RealClock{}, Rate: 100, Timeout: 1001 * time.Millisecond}
				l.Send = func(ctx context.Context, _ int64) load.Answer {
					at := time.Since(began)
					switch {
					case test.hangs && at > 2*time.Second && at < 8*time.Second:
						<-ctx.Done()
						return load.Answer{Text: "no answer in time"}
					case !test.hangs:
						time.Sleep(900 * time.Millisecond)
					}
					return load.Answer{Outcome: load.Accepted}
				}
				running := l.Start(t.Context())
				time.Sleep(10*time.Second - time.Nanosecond)
				record := running.Stop()
				got := strings.Join(record.Beyond(&scenarios.Limits{Failures: &none}), "\n")
				if got != test.beyond || record.LeftOut < 500 {
					t.Errorf("%s: %q, want %q", record, got, test.beyond)
				}
				if over := record.Beyond(&scenarios.Limits{FailurePercent: &percent}); len(over) > 0 != test.hangs {
					t.Errorf("%s: %q", record, over)
				}
			})
		})
	}
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

// jumpingClock is a clock that goes forward at once, as a machine sees it that did not run for a while.
type jumpingClock struct {
	clock.RealClock
	ahead atomic.Int64
}

func (c *jumpingClock) Now() time.Time { return c.RealClock.Now().Add(time.Duration(c.ahead.Load())) }

// A time in which this process did not run is no outage, and a request that failed in it does not count.
func TestStandstill(t *testing.T) {
	for name, test := range map[string]struct {
		// away is how long the API server is away afterwards.
		away time.Duration
		// failed is how many requests fail, and outage the longest time without an answer that may be seen.
		failed int
		outage time.Duration
	}{
		"the API server answers": {0, 1, 300 * time.Millisecond},
		"it is away afterwards":  {time.Second, 11, 1300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now, began := &jumpingClock{}, time.Now()
				l := load.Load{Name: "it", Clock: now, Send: func(_ context.Context, n int64) load.Answer {
					time.Sleep(50 * time.Millisecond)
					at := time.Since(began)
					switch {
					case n == 20:
						now.ahead.Store(int64(4 * time.Second))
						return load.Answer{Text: "no answer in time"}
					case at > 2100*time.Millisecond && at < 2100*time.Millisecond+test.away:
						return load.Answer{Text: "connection refused"}
					}
					return load.Answer{Outcome: load.Accepted}
				}}
				running := l.Start(t.Context())
				time.Sleep(6 * time.Second)
				record := running.Stop()
				// The heartbeat after the jump ends the standstill: a few failures right after it do not count.
				all := record.Uncounted + record.Failed
				if all != test.failed || record.Uncounted < 1 || record.Longest > test.outage {
					t.Errorf("%s; longest %s, %d do not count", record, record.Longest, record.Uncounted)
				}
				if stood := record.StoodStill; stood < 4*time.Second || stood > 4300*time.Millisecond {
					t.Errorf("stood still for %s, want about 4s", stood)
				}
				if slowest := record.Latency(100); slowest > 50*time.Millisecond {
					t.Errorf("the slowest answer took %s", slowest)
				}
				none := 0
				if record.Undecided(nil) != "" || record.Undecided(&scenarios.Limits{Outage: scenarios.Duration(1)}) != "" ||
					record.Undecided(&scenarios.Limits{Failures: &none}) == "" {
					t.Error("only the number of failures cannot be judged")
				}
				if want := "this machine stood still for 4"; !strings.Contains(record.String(), want) {
					t.Errorf("%s; want %q", record, want)
				}
			})
		})
	}
}

// A load that ends right after a standstill has noted it.
func TestStandstillAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := &jumpingClock{}
		l := answers(time.Millisecond, good)
		l.Clock = now
		running := l.Start(t.Context())
		time.Sleep(time.Second + time.Millisecond)
		now.ahead.Store(int64(time.Minute))
		if record := running.Stop(); record.StoodStill < time.Minute {
			t.Errorf("stood still for %s", record.StoodStill)
		}
	})
}
