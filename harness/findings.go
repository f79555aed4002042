package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/artifacts"
	"github.com/rehearse-dev/rehearse/harness/knownissues"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// findings are the results of a scenario's steps so far.
type findings struct {
	run *scenarioRun
	// issues are the known issues that apply to the path.
	issues []scenarios.KnownIssue
	// passed are the steps that passed. known are the known issues that occurred.
	passed []*scenarios.Step
	known  []scenarios.KnownIssue
	// broken is the first step that failed or had an error, with the first line of its message; "" if there is none.
	broken string
	// missing are the outputs that were not produced, each with the reason.
	missing map[string]string
}

// record records the outcome of a step, and reports whether the scenario ends with it.
func (k *findings) record(ctx context.Context, i int, outcome result) (over bool) {
	step := &k.run.scenario.Spec.Steps[i]
	var occurred []scenarios.KnownIssue
	outcome.Outcome, occurred = knownissues.Explain(k.issues, step, outcome.Outcome, died(ctx))
	k.known = append(k.known, occurred...)
	k.run.shared.Recorder.FinishStep(k.run.entry.Report, k.run.entry.Steps[i], outcome.Outcome)
	if outcome.Status == reports.Passed {
		k.passed = append(k.passed, step)
		return false
	}
	if (outcome.Status == reports.Failed || outcome.Status == reports.Error) && k.broken == "" {
		line, _, _ := strings.Cut(outcome.Message, "\n")
		k.broken = step.Title() + ": " + line
	}
	return ctx.Err() != nil || !k.goesOn(i, outcome)
}

// mayBeKnown reports whether a known issue is about the step.
func (k *findings) mayBeKnown(step *scenarios.Step) bool {
	return slices.ContainsFunc(k.issues, func(issue scenarios.KnownIssue) bool { return step.Named(issue.Step) })
}

// goesOn reports whether the next step runs after the i-th step had this result.
func (k *findings) goesOn(i int, r result) bool {
	return r.Status == reports.Passed || k.run.scenario.GoesOn(i) && !r.final
}

// lose notes that the outputs of a step that did not pass are missing, even if an earlier row of its table had
// produced them.
func (k *findings) lose(i int, r result) {
	step, became := &k.run.scenario.Spec.Steps[i], "failed"
	switch r.Status {
	case reports.Error:
		became = "could not be judged"
	case reports.NotRun:
		became = "was not judged"
	}
	for name := range step.Outputs {
		delete(k.run.outputs, name)
		k.missing[name] = fmt.Sprintf("output %s of step %d (%s), which %s", name, i+1, step.Title(), became)
	}
}

// needs returns the output or reading that a step needs and that is missing because an earlier step did not pass; ""
// if nothing is missing.
func (k *findings) needs(step *scenarios.Step) string {
	for _, name := range slices.Sorted(maps.Keys(k.missing)) {
		if slices.Contains(step.OutputsUsed, name) || slices.Contains(step.OutputsUsed, "") {
			return k.missing[name]
		}
	}
	if lacks := verbOf(step).lacks; lacks != nil {
		return lacks(k.run, step)
	}
	return ""
}

// verdict returns what to report about the scenario beyond its steps, when no more of them run.
func (k *findings) verdict(ctx context.Context) reports.Verdict {
	verdict := reports.Verdict{KnownCovers: knownissues.Covers(k.known)}
	verdict.KnownIssue = knownissues.Reasons(k.known)
	absent := slices.DeleteFunc(slices.Clone(k.issues), func(issue scenarios.KnownIssue) bool {
		return !slices.ContainsFunc(k.passed, func(step *scenarios.Step) bool { return step.Named(issue.Step) })
	})
	if len(absent) > 0 {
		verdict.Status, verdict.Message = reports.Failed,
			strings.TrimPrefix(k.broken+"\n"+knownissues.UnexpectedSuccess(absent), "\n")
		if len(k.known) == 0 {
			verdict.KnownCovers = knownissues.Covers(absent)
		}
	}
	var left artifacts.Left
	switch {
	case interrupted(ctx):
	case k.broken != "":
		left = k.run.evidence.diagnose(ctx)
	case k.run.shared.KeepHistory || len(absent) > 0:
		left = k.run.evidence.keepHistory()
	}
	verdict.Artifacts, verdict.Folder = left.Files, left.Folder
	return verdict
}

// stopped is the verdict on a scenario whose steps could not continue. An earlier failure remains a failure.
func (k *findings) stopped(ctx context.Context, status reports.Status, message string) reports.Verdict {
	verdict := k.verdict(ctx)
	if k.broken == "" {
		verdict.Status, verdict.Message = status, message
	}
	return verdict
}
