package realtest

import (
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// watched starts to record all changes of pods and groups, and an assertion that becomes true with the last pod. The
// returned function waits for that verdict, and then judges an assertion that must be false in every state. It fails
// unless both pass.
func (g gangs) watched(b *testing.B) (verdicts func()) {
	b.Helper()
	recorder, err := history.New(g.config)
	golden.Must(b, err)
	pods, scope := recorder.Stream(podResource), history.Scope{Namespace: "default"}
	for _, stream := range []*history.Stream{pods, recorder.Stream(podGroupResource)} {
		golden.Must(b, stream.CatchUp(b.Context(), scope))
	}
	window := &assertions.Window{
		First: "the first pod", Last: "the last pod",
		Begin: assertions.Moment{Seq: recorder.Seq(), At: recorder.Now()},
	}
	input := func(match map[string]any) assertions.Input {
		return assertions.Input{
			Assertion: scenarios.Assertion{Match: match}, Stream: pods, Scope: scope,
			Timeout: 10 * time.Minute,
		}
	}
	all := input(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type":   "PodScheduled",
		"status": "True",
	}}}})
	count := benchGangs * benchMembers
	all.Assertion.Count = &scenarios.Count{Min: &count, Max: &count}
	placed := make(chan assertions.Result, 1)
	go func() { placed <- assertions.Eventually(b.Context(), all) }()
	return func() {
		defer recorder.Close()
		if result := <-placed; result.Status != reports.Passed {
			b.Fatal(result.Message)
		}
		window.End = assertions.Moment{Seq: recorder.Seq(), At: recorder.Now()}
		failed := input(map[string]any{"status": map[string]any{"phase": "Failed"}})
		failed.Window = window
		began := time.Now()
		if result := assertions.Never(b.Context(), failed); result.Status != reports.Passed {
			b.Fatal(result.Message)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/verdict-on-all-changes")
	}
}
