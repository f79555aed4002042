package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// The texts of this package for writers in other packages.

// Headline says in one line why a scenario has its status; "" if it passed.
func Headline(run *Run, track *Track, s *Scenario) string {
	if s.Status == Passed {
		return ""
	}
	return plain.OneLine(markdownRemark(run, track, s))
}

// Unstable says how the results of a scenario differ between several runs: "unstable: passed in run 1, 3; failed in run
// 2"; "" if they do not differ.
func Unstable(s *Scenario) string {
	if len(s.Runs) == 0 {
		return ""
	}
	text := plain.InRuns(s.Runs)
	for _, status := range Statuses() {
		text = strings.ReplaceAll(text, fmt.Sprintf(", %s in ", status), fmt.Sprintf("; %s in ", status))
	}
	return unstable + ": " + text
}

// Decisive is the index of the step that decided a scenario's status, or -1.
func Decisive(s *Scenario) int {
	decisive := DecisiveStep(s)
	for i, step := range s.Steps {
		if step == decisive {
			return i
		}
	}
	return -1
}

// StepTitle is a step's name, or its verb.
func StepTitle(s *Step) string { return plain.OneLine(stepTitle(s)) }

// SetupTitle is a setup step's name with its verb.
func SetupTitle(s *Step) string { return plain.OneLine(setupTitle(s)) }

// Sign is the mark of a status, one column wide.
func Sign(s Status) string {
	return map[Status]string{
		Passed: "✓", Failed: "✗", Error: "!", Known: "~", NotRun: "-", Skipped: "○",
	}[s.OrNotRun()]
}
