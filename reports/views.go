package reports

import "time"

// What writers in other packages say as the writers here do.

// Explanation is all that there is to say of a scenario that did not pass.
func Explanation(s *Scenario) string { return clean(explanation(s)) }

// Headline says in one line why a scenario has its status; "" where it passed.
func Headline(run *Run, track *Track, s *Scenario) string {
	if s.Status == Passed {
		return ""
	}
	return oneLine(markdownRemark(run, track, s))
}

// Decisive is the number of the step that decided a scenario's status, or -1.
func Decisive(s *Scenario) int {
	decisive := decisiveStep(s)
	for i, step := range s.Steps {
		if step == decisive {
			return i
		}
	}
	return -1
}

// StepTitle is a step's name, or its verb.
func StepTitle(s *Step) string { return oneLine(stepTitle(s)) }

// SetupTitle is a setup step's name with its verb.
func SetupTitle(s *Step) string { return oneLine(setupTitle(s)) }

// SetupBroken says whether a setup step failed, or began and never ended though nobody interrupted it.
func SetupBroken(run *Run, s *Step) bool { return setupBroken(run, s) }

// ExplainSetup is all that there is to say of a setup step that broke.
func ExplainSetup(run *Run, t *Track, s *Step) string { return clean(explainSetup(run, t, s)) }

// Clean removes control characters and sequences from a text.
func Clean(text string) string { return clean(text) }

// StatusWord is a status as a person reads it.
func StatusWord(s Status) string { return statusWord(s) }

// Sign is the mark of a status, one column wide.
func Sign(s Status) string { return style{unicode: true}.sign(s) }

// InWords writes a length of time for a person: 12ms, 2.4s, 3m07s.
func InWords(d time.Duration) string { return duration(d) }

// Elapsed is the time from one moment to another; zero where one is not known.
func Elapsed(from, to time.Time) time.Duration { return elapsed(from, to) }
