package reports

import (
	"fmt"
	"slices"
)

// NotJudged begins the message of a step that did not run because something is missing that an earlier step should
// have left. The scenario went on after that step.
const NotJudged = "not judged: "

// derive returns the status that follows from the steps alone. The first step that failed or was an error decides: a
// failure before an error stays a finding, and a failure after an error may be caused by it. A scenario is known if
// all its failures are known.
func derive(steps []*Step) Status {
	passed, known := 0, 0
	for _, s := range steps {
		switch s.Status {
		case Error, Failed:
			return s.Status
		case Known:
			known++
		case Passed:
			passed++
		}
	}
	switch {
	case known > 0:
		return Known
	case passed > 0 && passed == len(steps):
		return Passed
	default:
		return NotRun
	}
}

// judge combines the status that follows from a scenario's steps with the caller's verdict. If they contradict each
// other, the worse one counts, and the remark says so.
func judge(steps []*Step, v Verdict) (Status, string) {
	derived := derive(steps)
	switch v.Status {
	case "":
		return derived, ""
	case Known:
		return judgeKnown(steps, derived)
	case Passed:
		if derived != Passed {
			return derived, fmt.Sprintf("reported as passed, but according to its steps it is %s", derived)
		}
		return Passed, ""
	case NotRun:
		if derived == Passed || derived == Known {
			return NotRun, "" // it may have gone on
		}
		return derived, ""
	case Skipped:
		if slices.ContainsFunc(steps, func(s *Step) bool { return s.Status != NotRun }) {
			return derived, "reported as skipped, but some of its steps ran"
		}
		return Skipped, ""
	case Failed:
		if derived == Error {
			return Error, ""
		}
		return Failed, ""
	case Error:
		return Error, ""
	default:
		return Error, fmt.Sprintf("finished with the status %q", v.Status)
	}
}

// judgeKnown accepts a known issue if it is the only failure, or if each failed step is known itself. Without a
// failure there is no known issue.
func judgeKnown(steps []*Step, derived Status) (Status, string) {
	failed, known, errors := 0, 0, 0
	for _, s := range steps {
		switch s.Status {
		case Failed:
			failed++
		case Known:
			known++
		case Error:
			errors++
		}
	}
	switch {
	case derived == Error || errors > 0:
		return Error, ""
	case failed+known == 0:
		return Error, "reported as a known issue, but no step failed"
	case failed > 0 && failed+known > 1:
		return Failed, ""
	default:
		return Known, ""
	}
}

// DecisiveStep is the first step with the scenario's status (in a known scenario, it may also be failed), or nil.
func DecisiveStep(s *Scenario) *Step {
	for _, step := range s.Steps {
		switch {
		case s.Status == Known && (step.Status == Failed || step.Status == Known),
			step.Status == s.Status && (s.Status == Failed || s.Status == Error):
			return step
		}
	}
	return nil
}
