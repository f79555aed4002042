package reports

import "slices"

// About returns the scenario's status for one of its requirements, and the step that decided it; nil if no single step
// did. NotRun means that the scenario did not decide the requirement, for example because it ended before.
//
// Only the steps that cover the requirement decide it. Without such steps the whole scenario decides, but a failed
// step that covers other requirements fails only those. If a step without requirements fails although all requirements
// passed, each requirement is NotRun: a failed scenario must not look as if everything passed.
func (s *Scenario) About(id string) (Status, *Step) {
	status, step := s.decide(id)
	if status != Passed || s.Status != Failed {
		return status, step
	}
	for _, other := range s.Covers {
		if status, _ := s.decide(other); status != Passed {
			return Passed, step
		}
	}
	if gravest, culprit := worst(s.Steps); gravest != Passed {
		return NotRun, culprit
	}
	return status, step
}

func (s *Scenario) decide(id string) (Status, *Step) {
	var own []*Step
	for _, step := range s.Steps {
		if slices.Contains(step.Covers, id) {
			own = append(own, step)
		}
	}
	if len(own) > 0 {
		return worst(own)
	}
	if s.Status != Failed && s.Status != Known {
		return s.Status, nil
	}
	var rest []*Step
	for _, step := range s.Steps {
		if len(step.Covers) == 0 || step.Status == NotRun {
			rest = append(rest, step)
		}
	}
	if len(rest) == 0 && len(s.Steps) > 0 {
		return NotRun, nil // each step decides about other requirements
	}
	if status, step := worst(rest); status != Passed || len(rest) < len(s.Steps) {
		return status, step
	}
	return s.Status, nil // every step passed, although a known issue was expected
}

// Gravity orders the statuses. The gravest status of several steps is the status of all of them.
var Gravity = []Status{Passed, NotRun, Skipped, Known, Error, Failed}

// worst returns the gravest status of the steps, and the first step that has it, or the last step if all passed.
func worst(steps []*Step) (Status, *Step) {
	var decisive *Step
	for _, step := range steps {
		if decisive == nil || slices.Index(Gravity, step.Status) > slices.Index(Gravity, decisive.Status) ||
			step.Status == Passed && decisive.Status == Passed {
			decisive = step
		}
	}
	if decisive == nil {
		return Passed, nil
	}
	return decisive.Status, decisive
}
