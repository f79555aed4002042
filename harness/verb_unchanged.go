package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func unchangedVerb() verb { return verb{run: runUnchanged, agree: showAlike} }

// runUnchanged decides whether objects stayed as they were.
func runUnchanged(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	selection := step.Unchanged.Selection
	kind, err := s.timeline.served(ctx, i, selection, s.timeout(step, s.shared.StepTimeout))
	if err != nil {
		return unserved(step, selection, err)
	}
	wrong, doubt := s.timeline.askedFields(ctx, i, step)
	if wrong != nil {
		return *wrong
	}
	window := s.timeline.windowOf(ctx, i)
	if window == nil {
		return failure(reports.Error, "unchanged %s: no time is given", selection.Kind)
	}
	return resultOf(assertions.Unchanged(ctx, assertions.Input{
		Assertion: scenarios.Assertion{Selection: selection},
		Stream:    s.shared.history.Stream(kind.Resource),
		Scope:     s.timeline.looksAt(selection, kind),
		Window:    window,
	}, step.Unchanged.Paths)).with(doubt)
}
