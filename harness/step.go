package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// result is what a step came to, with the values that its outputs may use.
type result struct {
	reports.Outcome
	values map[string]any
	// acted: the step's own action came to its end as it should, whatever there is to say of its loads.
	acted bool
	// final: the scenario cannot go on after it, whatever it says.
	final bool
	// held: the proof has yet to tell whether a refused write stored something.
	held bool
}

func failure(status reports.Status, format string, args ...any) result {
	return result{Outcome: reports.Outcome{Status: status, Message: fmt.Sprintf(format, args...)}}
}

// step runs the i-th step and keeps its outputs.
func (s *scenarioRun) step(ctx context.Context, i int) result {
	s.beginStep(ctx, i)
	r := s.evaluated(ctx, i)
	if r.Status != reports.Passed {
		s.lose(i, r)
		r.final = s.scenario.Spec.Steps[i].ChangesCluster() && !r.acted
	}
	if s.goesOn(i, r) {
		s.endStep(ctx, i)
	}
	return r
}

// evaluated runs the i-th step with the values of its expressions, if it has all that it needs.
func (s *scenarioRun) evaluated(ctx context.Context, i int) result {
	original := s.scenario.Spec.Steps[i]
	if what := s.needs(&original); what != "" {
		return failure(reports.NotRun, "%sit needs %s", reports.NotJudged, what)
	}
	step, err := s.Expressions.WithContext(ctx).Step(original, s.variables(&original))
	if err != nil {
		return failure(reports.Error, "evaluate the expressions of the step: %v", err)
	}
	s.touch(ctx, step)
	r := s.do(ctx, i, step)
	if r.Status == reports.Passed {
		if err := s.keepOutputs(ctx, step, r.values); err != nil {
			r.Status, r.Message = reports.Error, err.Error()
		}
	}
	return r
}

// do runs the step, with its loads if it has some.
func (s *scenarioRun) do(ctx context.Context, i int, step scenarios.Step) result {
	var r result
	if len(step.During) > 0 {
		r = s.underLoad(ctx, i, step)
	} else {
		r = s.act(ctx, i, step)
		r.acted = r.Status == reports.Passed
		s.revive(step, r)
	}
	if r.acted && s.down == "" && len(s.owed) > 0 {
		r = s.checkOwed(ctx, step, r)
	}
	return r
}

// revive notes that the API server answers again after a step's own action.
func (s *scenarioRun) revive(step scenarios.Step, r result) {
	if r.Status == reports.Passed && (step.Transition != nil || step.Restart != nil && step.Restart.Component == s.down) {
		s.down = ""
	}
}

// act runs the one verb that the step has.
func (s *scenarioRun) act(ctx context.Context, i int, step scenarios.Step) result {
	switch {
	case step.Parallel != nil:
		return s.parallel(ctx, i, step)
	case step.Transition != nil:
		return s.transition(ctx, step)
	case step.Restart != nil:
		return s.restart(ctx, step)
	case step.Kill != nil:
		return s.kill(ctx, step)
	case step.Eventually != nil || step.RolledOut != nil || step.Always != nil || step.Never != nil:
		return s.assert(ctx, i, step)
	case step.Sequence != nil:
		return s.sequence(ctx, i, step)
	case step.Unchanged != nil:
		return s.unchanged(ctx, i, step)
	case step.Survives != nil:
		return s.survives(ctx, i, step)
	case step.Snapshot != nil:
		return s.snapshot(ctx, step)
	case step.Restore != nil:
		return s.restore(ctx, step)
	case step.Resolve != nil:
		return s.resolve(ctx, i, step)
	case step.Metric != nil:
		return s.metric(ctx, i, step)
	case step.Command != nil:
		s.kinds.ExpectMore()
		return s.command(ctx, i, step)
	case step.Exec != nil:
		s.kinds.ExpectMore()
		return s.exec(ctx, i, step)
	}
	return s.write(ctx, i, step)
}

func (s *scenarioRun) write(ctx context.Context, i int, step scenarios.Step) result {
	ctx, cancel := context.WithTimeout(ctx, s.timeout(step, s.StepTimeout))
	defer cancel()
	if bearsPods(step) {
		s.awaitAccount(ctx)
	}
	settled, err := s.settle(ctx, step)
	if err != nil {
		return failure(reports.Error, "%v", err)
	}
	v := s.writer.Do(ctx, writes.Request{
		Step:    &step,
		Manager: s.manager(fmt.Sprint(i + 1)),
		Attempt: s.attempts(i),
		Proof:   s.proof,
	})
	s.unsettle(step)
	r := result{Outcome: reports.Outcome{Status: v.Status, Message: v.Message, Evidence: v.Evidence + settled}, held: v.Held}
	if v.Object != nil {
		r.values = map[string]any{"object": v.Object}
		s.awaitTold(ctx, r.values)
	}
	return r
}

// attempts records what is tried again.
func (s *scenarioRun) attempts(i int) func(string) {
	return func(outcome string) { s.Recorder.AttemptStep(s.entry.result, s.entry.steps[i], outcome) }
}

// transition waits for the other scenarios of the track, and crosses with them. Meanwhile the scenario needs no slot.
func (s *scenarioRun) transition(ctx context.Context, step scenarios.Step) result {
	s.allow(s.timeout(scenarios.Step{Timeout: step.Timeout}, defaultTransitionTimeout))
	s.release()
	began := time.Now()
	crossing, err := s.barrier.arrive(ctx, s.beginLoad(ctx, step))
	// The slot is given back in the end in any case, so it must be had again, also after an interrupt.
	s.slots <- struct{}{}
	r := s.crossed(err)
	r.Crossing, r.Waited = crossing, max(time.Since(began)-crossing, 0)
	return r
}

func (s *scenarioRun) restart(ctx context.Context, step scenarios.Step) result {
	if step.Restart.System != "" {
		return s.controlSystem(ctx, step, "restart", step.Restart.System, (*systems.Set).Restart)
	}
	return s.control(ctx, step, "restart", step.Restart.Component, clusters.ComponentController.Restart)
}

func (s *scenarioRun) kill(ctx context.Context, step scenarios.Step) result {
	if step.Kill.System != "" {
		return s.controlSystem(ctx, step, "kill", step.Kill.System, (*systems.Set).Kill)
	}
	r := s.control(ctx, step, "kill", step.Kill.Component, clusters.ComponentController.Kill)
	if r.Status == reports.Passed && step.Kill.Silences() {
		s.down = step.Kill.Component
	}
	return r
}

func (s *scenarioRun) control(ctx context.Context, step scenarios.Step, verb string, component clusters.Component,
	do func(clusters.ComponentController, context.Context, clusters.Component) error,
) result {
	controller, ok := s.cluster.(clusters.ComponentController)
	if !ok {
		return result{Outcome: lacking(verb, s.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout.Or(defaultRestartTimeout))
	defer cancel()
	if err := do(controller, ctx, component); err != nil {
		return failure(reports.Error, "%s %s: %v", verb, component, err)
	}
	return result{Outcome: reports.Outcome{Status: reports.Passed}}
}

// keepOutputs evaluates the step's outputs, for later steps.
func (s *scenarioRun) keepOutputs(ctx context.Context, step scenarios.Step, values map[string]any) error {
	vars := s.variables(&step)
	maps.Copy(vars, values)
	kept := map[string]any{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(step.Outputs)) {
		value, err := s.Expressions.WithContext(ctx).Eval(step.Outputs[name], vars)
		if err != nil {
			problems = append(problems, fmt.Errorf("output %s: %s: %w", name, step.Outputs[name], err))
			continue
		}
		kept[name] = value
		delete(s.found.missing, name)
	}
	maps.Copy(s.outputs, kept)
	return errors.Join(problems...)
}

// bearsPods says whether the step makes pods, or what makes them: these need the namespace's default ServiceAccount.
func bearsPods(step scenarios.Step) bool {
	made := step.Makes().Reference()
	group, _, _ := strings.Cut(made.APIVersion, "/")
	return made.Kind == "Pod" || made.Kind == "ReplicationController" || group == "apps" || group == "batch" || isCustom(made.APIVersion)
}
