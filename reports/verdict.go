package reports

import (
	"fmt"
	"slices"
)

// derive returns the status that follows from the steps alone. The first step that went wrong decides: a scenario ends
// there, and what goes wrong afterwards, when it is cleaned up, does not take a finding back.
func derive(steps []*Step) Status {
	passed := 0
	for _, s := range steps {
		switch s.Status {
		case Error, Failed, Known:
			return s.Status
		case Passed:
			passed++
		}
	}
	if passed > 0 && passed == len(steps) {
		return Passed
	}
	return NotRun
}

// judge brings together what follows from a scenario's steps and what the caller says of it. Where they contradict each
// other the worse holds, and a remark says so.
func judge(steps []*Step, v Verdict) (Status, string) {
	derived := derive(steps)
	switch v.Status {
	case "":
		return derived, ""
	case Known:
		return judgeKnown(steps, derived)
	case Passed:
		if derived != Passed {
			return derived, fmt.Sprintf("said to have passed, but by its steps it is %s", derived)
		}
		return Passed, ""
	case NotRun:
		if derived == Passed {
			return NotRun, ""
		}
		return derived, ""
	case Skipped:
		if slices.ContainsFunc(steps, func(s *Step) bool { return s.Status != NotRun }) {
			return derived, "said to have been skipped, but some of its steps ran"
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

// judgeKnown grants that a failure is known only where exactly one step failed: a second failure is another one, and
// without any there is nothing to know of.
func judgeKnown(steps []*Step, derived Status) (Status, string) {
	failing, errors := 0, 0
	for _, s := range steps {
		switch s.Status {
		case Failed, Known:
			failing++
		case Error:
			errors++
		}
	}
	switch {
	case derived == Error || errors > 0:
		return Error, ""
	case failing == 0:
		return Error, "said to have failed as a known issue, but no step failed"
	case failing > 1:
		return Failed, ""
	default:
		return Known, ""
	}
}

// decisiveStep is the first of the steps whose status the scenario has (a known scenario's may be failed), or nil.
func decisiveStep(s *Scenario) *Step {
	for _, step := range s.Steps {
		switch {
		case s.Status == Known && (step.Status == Failed || step.Status == Known),
			step.Status == s.Status && (s.Status == Failed || s.Status == Error):
			return step
		}
	}
	return nil
}
