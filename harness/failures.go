package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// findings are what came of a scenario's steps so far.
type findings struct {
	// passed are the steps that passed, known the known issues that happened.
	passed []*scenarios.Step
	known  []scenarios.KnownIssue
	// broken is the first step that failed, or was an error, with the first line of why; "" while there is none.
	broken string
	// missing are the outputs that are not there, each with why.
	missing map[string]string
}

// record takes down what came of a step, and says whether the scenario ends with it.
func (s *scenarioRun) record(ctx context.Context, i int, outcome result) (over bool) {
	step := &s.scenario.Spec.Steps[i]
	if issue := knownFailure(s.known, step, outcome.Outcome, died(ctx)); issue != nil {
		outcome.Status = reports.Known
		s.found.known = append(s.found.known, *issue)
	}
	s.Recorder.FinishStep(s.entry.result, s.entry.steps[i], outcome.Outcome)
	if outcome.Status == reports.Passed {
		s.found.passed = append(s.found.passed, step)
		return false
	}
	if (outcome.Status == reports.Failed || outcome.Status == reports.Error) && s.found.broken == "" {
		line, _, _ := strings.Cut(outcome.Message, "\n")
		s.found.broken = step.Title() + ": " + line
	}
	return ctx.Err() != nil || !s.goesOn(i, outcome)
}

// goesOn says whether the next step runs after what came of one.
func (s *scenarioRun) goesOn(i int, r result) bool {
	return r.Status == reports.Passed || s.scenario.GoesOn(i) && !r.final
}

// lose takes note that the outputs of a step that did not pass are not there, also where an earlier row of its table had made them.
func (s *scenarioRun) lose(i int, r result) {
	step, became := &s.scenario.Spec.Steps[i], "failed"
	switch r.Status {
	case reports.Error:
		became = "could not be judged"
	case reports.NotRun:
		became = "was not judged"
	}
	for name := range step.Outputs {
		delete(s.outputs, name)
		s.found.missing[name] = fmt.Sprintf("output %s of step %d (%s), which %s", name, i+1, step.Title(), became)
	}
}

// needs says which output, or reading, a step needs that is not there because an earlier step did not pass; "" when it has all.
func (s *scenarioRun) needs(step *scenarios.Step) string {
	for _, name := range slices.Sorted(maps.Keys(s.found.missing)) {
		if slices.Contains(step.OutputsUsed, name) || slices.Contains(step.OutputsUsed, "") {
			return s.found.missing[name]
		}
	}
	if step.Metric == nil || step.Metric.Since == "" {
		return ""
	}
	if _, read := s.earlier(step.Metric.Since); !read {
		return fmt.Sprintf("the reading of %q, which did not pass", step.Metric.Since)
	}
	return ""
}

// verdict is what there is to say of the scenario beyond its steps, once no more of them run.
func (s *scenarioRun) verdict(ctx context.Context) reports.Verdict {
	verdict := reports.Verdict{KnownCovers: coveredBy(s.found.known)}
	var reasons []string
	for _, issue := range s.found.known {
		reasons = append(reasons, reason(issue))
	}
	verdict.KnownIssue = strings.Join(unique(reasons), "; ")
	absent := slices.DeleteFunc(slices.Clone(s.known), func(issue scenarios.KnownIssue) bool {
		return !slices.ContainsFunc(s.found.passed, func(step *scenarios.Step) bool { return step.Named(issue.Step) })
	})
	if len(absent) > 0 {
		verdict.Status, verdict.Message = reports.Failed, strings.TrimPrefix(s.found.broken+"\n"+unexpectedSuccess(absent), "\n")
		if len(s.found.known) == 0 {
			verdict.KnownCovers = coveredBy(absent)
		}
	}
	var left artifacts
	switch {
	case interrupted(ctx):
	case s.found.broken != "":
		left = s.diagnose(ctx)
	case s.History || len(absent) > 0:
		left = s.keepHistory()
	}
	verdict.Artifacts, verdict.Folder = left.files, left.folder
	return verdict
}

// stopped is the verdict on a scenario whose steps could not go on. What failed before has failed.
func (s *scenarioRun) stopped(ctx context.Context, status reports.Status, message string) reports.Verdict {
	verdict := s.verdict(ctx)
	if s.found.broken == "" {
		verdict.Status, verdict.Message = status, message
	}
	return verdict
}
