package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func rolledOutVerb() verb {
	return verb{waits: true, run: func(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
		assertion := &scenarios.Assertion{Selection: step.RolledOut.Selection, Within: step.RolledOut.Within}
		return s.assert(ctx, i, step, assertion, assertions.RolledOut)
	}}
}
