package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// result is the result of a step, with the values that its outputs may use.
type result struct {
	reports.Outcome
	values map[string]any
	// acted: the step's own action succeeded, whatever its loads did.
	acted bool
	// final: the scenario cannot continue after it, whatever the scenario says.
	final bool
	// held: the proof has not yet shown whether a rejected write stored something.
	held bool
}

func failure(status reports.Status, format string, args ...any) result {
	return result{Outcome: reports.Outcome{Status: status, Message: fmt.Sprintf(format, args...)}}
}

// step runs the i-th step and keeps its outputs.
func (s *scenarioRun) step(ctx context.Context, i int) result {
	s.timeline.begin(ctx, i)
	s.lookBack.begin(ctx, i)
	s.survivals.begin(ctx, i)
	defer patiently(s.shared, &s.scenario.Spec.Steps[i])()
	r := s.evaluated(ctx, i)
	if r.Status != reports.Passed {
		s.found.lose(i, r)
		r.final = s.scenario.Spec.Steps[i].ChangesCluster() && !r.acted
	}
	if s.found.goesOn(i, r) {
		s.survivals.end(ctx, i)
		s.timeline.end(ctx, i)
		s.lookBack.end(ctx, i)
	}
	return r
}

// evaluated runs the i-th step with the values of its expressions, if it has all that it needs.
func (s *scenarioRun) evaluated(ctx context.Context, i int) result {
	original := s.scenario.Spec.Steps[i]
	if what := s.found.needs(&original); what != "" {
		return failure(reports.NotRun, "%sit needs %s", reports.NotJudged, what)
	}
	step, err := expressions.Evaluated(s.shared.Expressions.WithContext(ctx), original, s.variables(&original))
	if err != nil {
		return failure(reports.Error, "evaluate the expressions of the step: %v", err)
	}
	s.evidence.touch(ctx, step)
	r := s.do(ctx, i, step)
	if r.Status == reports.Passed {
		if err := s.keepOutputs(ctx, step, r.values); err != nil {
			r.Status, r.Message = reports.Error, err.Error()
		}
	}
	return r
}

// do runs the step, with its loads if it has any.
func (s *scenarioRun) do(ctx context.Context, i int, step scenarios.Step) result {
	var r result
	if len(step.During) > 0 {
		r = s.loads.underLoad(ctx, i, step)
	} else {
		r = s.asked(ctx, i, step)
		r.acted = r.Status == reports.Passed
	}
	if r.acted && len(s.down) == 0 && s.shared.transitions.wreck() == nil && len(s.loads.owed) > 0 {
		r = s.loads.checkOwed(ctx, step, r)
	}
	return r
}

// attempts returns the function that records each attempt.
func (s *scenarioRun) attempts(i int) func(string) {
	return func(outcome string) { s.shared.Recorder.AttemptStep(s.entry.Report, s.entry.Steps[i], outcome) }
}

// keepOutputs evaluates the step's outputs, for later steps.
func (s *scenarioRun) keepOutputs(ctx context.Context, step scenarios.Step, values map[string]any) error {
	vars := s.variables(&step)
	maps.Copy(vars, values)
	kept := map[string]any{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(step.Outputs)) {
		value, err := s.shared.Expressions.WithContext(ctx).Eval(step.Outputs[name], vars)
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

// problem is one of several problems of a step.
func problem(status reports.Status, message string) reports.Outcome {
	return reports.Outcome{Status: status, Message: message}
}

// with adds to the evidence of the result.
func (r result) with(evidence string) result {
	r.Evidence = strings.TrimPrefix(r.Evidence+evidence, "\n")
	return r
}

// try is the result of one look at something that no watch reports.
type try struct {
	// problem is the difference from what was expected; "" if there is none.
	problem string
	// undecided: it was not possible to look.
	undecided bool
	// final: looking again would not help.
	final    bool
	evidence string
	values   map[string]any
}

func (t try) result() result {
	r := result{values: t.values}
	r.Status, r.Message, r.Evidence = reports.Passed, t.problem, t.evidence
	switch {
	case t.problem == "":
	case t.undecided:
		r.Status = reports.Error
	default:
		r.Status = reports.Failed
	}
	return r
}

// repeat looks until everything is as expected, looking again would not help, or the context ends. Then it looks once
// more, since the last look may be old. A look that this end cut short does not count if there was one before it. A
// problem that differs from the one before is recorded.
func repeat(ctx context.Context, record func(string), look func() try) result {
	again := pauses.Growing(25*time.Millisecond, 500*time.Millisecond)
	var last *try
	for over := false; ; {
		t := look()
		if t.problem == "" || t.final {
			return t.result()
		}
		if last == nil || ctx.Err() == nil || !t.undecided {
			if last == nil || last.problem != t.problem {
				record(t.problem)
			}
			last = &t
		}
		if over {
			return last.result()
		}
		over = !pauses.Wait(ctx, again)
	}
}
