package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func restartVerb() verb {
	return verb{
		run: runRestart, moves: true,
		needs:  func(step *scenarios.Step) clusters.Ability { return needsControl(step.Restart) },
		cannot: func(step *scenarios.Step, state clusters.State) string { return uncontrollable(step.Restart, state) },
		alone:  func(step *scenarios.Step) string { return fmt.Sprintf("restarts %s", step.Restart) },
	}
}

// needsControl returns the ability that restarting or killing needs. A system needs none, since it is our own
// process.
func needsControl(r *scenarios.ComponentReference) clusters.Ability {
	if r.System != "" {
		return ""
	}
	return clusters.AbilityComponents
}

func runRestart(ctx context.Context, s *scenarioRun, _ int, step scenarios.Step) result {
	if step.Restart.System != "" {
		return controlSystem(ctx, s, step, "restart", step.Restart.System, (*systems.Set).Restart)
	}
	r := control(ctx, s, step, "restart", s.component(step.Restart.Component), clusters.ComponentController.Restart)
	if r.Status == reports.Passed { // one API server is enough to read what was written
		delete(s.down, step.Restart.Component)
	}
	return r
}

func control(ctx context.Context, s *scenarioRun, step scenarios.Step, verb string, component clusters.Component,
	do func(clusters.ComponentController, context.Context, clusters.Component) error,
) result {
	controller, ok := s.shared.cluster.(clusters.ComponentController)
	if !ok {
		return result{Outcome: lacking(verb, s.shared.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := do(controller, ctx, component); err != nil {
		return failure(reports.Error, "%s %s: %v", verb, component, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed, Evidence: fmt.Sprintf("%sed %s", verb, component)}}
}

// controlSystem restarts or kills a system.
func controlSystem(ctx context.Context, s *scenarioRun, step scenarios.Step, verb, name string,
	do func(*systems.Set, context.Context, string) error,
) result {
	if s.shared.systems == nil {
		return failure(reports.Error, "%s system %s: the cluster has no systems", verb, name)
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := do(s.shared.systems, ctx, name); err != nil {
		return failure(reports.Error, "%s system %s: %v", verb, name, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed, Evidence: fmt.Sprintf("%sed system %s", verb, name)}}
}

// uncontrollable returns why a step cannot restart or kill its system in a state; "" if it can.
func uncontrollable(r *scenarios.ComponentReference, state clusters.State) string {
	if r.System == "" {
		return ""
	}
	system, there := state.System(r.System)
	switch {
	case !there:
		return fmt.Sprintf("there is no system %s at that point", r.System)
	case system.Kind() == "manifests":
		return fmt.Sprintf("the cluster runs system %s; delete its pods instead", r.System)
	}
	return ""
}
