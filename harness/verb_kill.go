package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func killVerb() verb {
	return verb{
		run: runKill, leavesDown: true,
		needs:  func(step *scenarios.Step) clusters.Ability { return needsControl(step.Kill) },
		cannot: func(step *scenarios.Step, state clusters.State) string { return uncontrollable(step.Kill, state) },
		alone:  func(step *scenarios.Step) string { return fmt.Sprintf("kills %s", step.Kill) },
	}
}

func runKill(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	if step.Kill.System != "" {
		return controlSystem(ctx, s, step, "kill", step.Kill.System, (*systems.Set).Kill)
	}
	r := control(ctx, s, step, "kill", s.component(step.Kill.Component), clusters.ComponentController.Kill)
	if r.Status == reports.Passed && step.Kill.Silences() && s.via == nil {
		s.down[step.Kill.Component] = true
	}
	return r
}
