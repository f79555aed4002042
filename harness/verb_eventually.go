package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func eventuallyVerb() verb {
	return verb{waits: true, run: func(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
		return s.assert(ctx, i, step, step.Eventually, assertions.Eventually)
	}}
}
