package reports

import "fmt"

// derive returns the status that follows from the steps alone.
func derive(steps []*Step) Status {
	seen := map[Status]int{}
	for _, s := range steps {
		seen[s.Status]++
	}
	switch {
	case seen[Error] > 0:
		return Error
	case seen[Failed] > 0:
		return Failed
	case seen[Known] > 0:
		return Known
	case len(steps) > 0 && seen[Passed] == len(steps):
		return Passed
	default:
		return NotRun
	}
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
	failing := 0
	for _, s := range steps {
		if s.Status == Failed || s.Status == Known {
			failing++
		}
	}
	switch {
	case derived == Error:
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
