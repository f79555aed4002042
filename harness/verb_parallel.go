package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func parallelVerb() verb { return verb{run: runParallel} }

// runParallel sends the copies of the step's writes at the same time.
func runParallel(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	ctx, cancel := context.WithTimeout(ctx, s.timeout(step, s.shared.StepTimeout))
	defer cancel()
	var requests []writes.Request
	for n, copied := range step.Parallel.Copies() {
		copied.Case = step.Case
		evaluated, err := expressions.Evaluated(s.shared.Expressions.WithContext(ctx), copied, s.variables(&copied))
		if err != nil {
			return failure(reports.Error, "evaluate the expressions of write %d (%s): %v", n+1, copied.Position, err)
		}
		s.evidence.touch(ctx, evaluated)
		if bearsPods(evaluated) {
			s.awaitAccount(ctx)
		}
		requests = append(requests, writes.Request{
			Step: &evaluated, Manager: s.manager(fmt.Sprintf("%d-%d", i+1, n+1)),
			Attempt: s.attempts(i),
		})
	}
	settled, err := s.settling.await(ctx, step)
	if err != nil {
		return failure(reports.Error, "%v", err)
	}
	for _, request := range requests {
		s.settling.note(*request.Step)
	}
	v := s.writer.AtOnce(ctx, requests, step.Parallel.Expect)
	r := result{Outcome: reports.Outcome{
		Status: v.Status, Message: v.Message, Evidence: v.Evidence + settled,
		Problems: v.Problems,
	}}
	for _, object := range v.Objects {
		s.timeline.awaitTold(ctx, map[string]any{"object": object})
	}
	r.values = map[string]any{"objects": append([]any{}, v.Objects...)}
	return r
}
