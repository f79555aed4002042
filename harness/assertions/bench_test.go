package assertions

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// BenchmarkVerdict measures the time from the change that decides an assertion to its verdict, for 50 assertions that
// wait at once.
func BenchmarkVerdict(b *testing.B) {
	const waiting = 50
	server := apitest.New(b)
	recorder, err := history.New(server.Config())
	if err != nil {
		b.Fatal(err)
	}
	defer recorder.Close()
	stream := recorder.Stream(services)
	var total, slowest time.Duration
	for range b.N {
		results := make(chan Result, waiting)
		lists := server.Requests("list", "")
		for range waiting {
			go func() {
				results <- Eventually(b.Context(), Input{
					Assertion: scenarios.Assertion{Match: map[string]any{"spec": port(81)}},
					Stream:    stream,
					Scope:     history.Scope{Namespace: "x", Selector: labels.Everything()},
				})
			}()
		}
		server.AwaitRequests("list", lists+waiting)
		server.Put(services.Resource, service("x", "web", "spec", port(81)))
		for range waiting {
			result := <-results
			if result.Status != reports.Passed {
				b.Fatal(result.Message)
			}
			if !result.EventAt.IsZero() {
				late := result.DecidedAt.Sub(result.EventAt)
				total += late
				slowest = max(slowest, late)
			}
		}
		server.Delete(services.Resource, "x", "web")
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N*waiting), "µs/verdict")
	b.ReportMetric(float64(slowest.Microseconds()), "µs/slowest")
}
