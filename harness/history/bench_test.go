package history_test

import (
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// BenchmarkWake measures the time from the moment a change is recorded until 50 waiters have it.
func BenchmarkWake(b *testing.B) {
	const waiters = 50
	server := apitest.New(b)
	stream := newRecorder(b, server).Stream(pods)
	server.AwaitWatches(1)
	scope := history.Scope{Namespace: "x"}
	var total, slowest time.Duration
	for range b.N {
		_, from, _ := stream.Since(0, history.Scope{Namespace: "none"})
		var waiting, done sync.WaitGroup
		late := make([]time.Duration, waiters)
		for i := range waiters {
			waiting.Add(1)
			done.Go(func() {
				seq := from
				changes, upTo, wake := stream.Since(seq, scope)
				waiting.Done()
				for len(changes) == 0 {
					<-wake
					changes, upTo, wake = stream.Since(upTo, scope)
				}
				late[i] = time.Since(changes[0].At)
			})
		}
		waiting.Wait()
		server.Put(pods.Resource, pod("x", "web"))
		done.Wait()
		for _, d := range late {
			total += d
			slowest = max(slowest, d)
		}
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N*waiters), "µs/waiter")
	b.ReportMetric(float64(slowest.Microseconds()), "µs/slowest")
}
