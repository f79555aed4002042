package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
)

// scenarioCase is a scenario as a JUnit case.
func scenarioCase(run *Run, track *Track, s *Scenario) reporters.JUnitTestCase {
	c := reporters.JUnitTestCase{
		Name: s.Name, Status: string(known(s.Status)), Time: seconds(s.Duration()), SystemOut: stepLog(s),
	}
	c.Properties = &reporters.JUnitProperties{Properties: properties(
		"requirements", strings.Join(s.Covers, ", "),
		"versions", strings.Join(s.Versions, ", "),
		"gates", strings.Join(s.Gates, ", "),
		"track", track.Name,
		"namespace", s.Namespace,
		"file", location(s),
		"known-issue", s.KnownIssue,
		"artifacts", strings.Join(s.Artifacts, ", "),
	)}
	switch s.Status {
	case Passed:
	case Failed:
		c.Failure = &reporters.JUnitFailure{Message: headline(s), Type: string(Failed), Description: explanation(s)}
	case Error:
		c.Error = &reporters.JUnitError{Message: headline(s), Type: string(Error), Description: explanation(s)}
	case Known:
		c.Skipped = &reporters.JUnitSkipped{Message: knownReason(s)}
		c.SystemOut += "\n\n" + explanation(s)
	default:
		c.Skipped = &reporters.JUnitSkipped{Message: whyNotRun(run, track, s)}
	}
	return c
}

// setupCase is work on a cluster as a JUnit case.
func setupCase(run *Run, track *Track, s *Step) reporters.JUnitTestCase {
	c := reporters.JUnitTestCase{
		Name: track.Name + ": " + setupTitle(s), Status: string(known(s.Status)), Time: seconds(s.Duration()),
	}
	c.Properties = &reporters.JUnitProperties{Properties: properties(
		"path", strings.Join(track.Path, " -> "),
		"state", s.State,
	)}
	message := firstLine(s.Message)
	switch s.Status {
	case Passed:
	case Failed, Known:
		c.Failure = &reporters.JUnitFailure{Message: message, Type: string(Failed), Description: explainSetup(run, track, s)}
	case Error:
		c.Error = &reporters.JUnitError{Message: message, Type: string(Error), Description: explainSetup(run, track, s)}
	default:
		c.Skipped = &reporters.JUnitSkipped{Message: whySetupNotRun(run, track, s)}
	}
	return c
}

// known is the status, or NotRun for one that we do not know.
func known(s Status) Status {
	switch s {
	case Passed, Failed, Error, Known, Skipped:
		return s
	default:
		return NotRun
	}
}

// headline says in one line why a scenario did not pass.
func headline(s *Scenario) string {
	if line := firstLine(s.Message); line != "" {
		return line
	}
	if step := decisiveStep(s); step != nil {
		return decisiveLine(s, step)
	}
	return "no reason was recorded"
}

func knownReason(s *Scenario) string {
	if s.KnownIssue != "" {
		return "known issue: " + s.KnownIssue
	}
	return "known issue: " + headline(s)
}

// stepLog lists a scenario's steps: status, when it began after the scenario did, how long it took, and its attempts.
func stepLog(s *Scenario) string {
	var b strings.Builder
	for i, step := range s.Steps {
		if i > 0 {
			b.WriteByte('\n')
		}
		when := ""
		if !step.Started.IsZero() {
			when = fmt.Sprintf("+%.3fs", max(step.Started.Sub(s.Started), 0).Seconds())
		}
		took := ""
		if !step.Started.IsZero() && !step.Finished.IsZero() {
			took = fmt.Sprintf("%.3fs", step.Duration().Seconds())
		}
		fmt.Fprintf(&b, "%-6s %9s %9s  %s", known(step.Status), when, took, stepTitle(step))
		if step.Name != "" && step.Verb != "" {
			fmt.Fprintf(&b, " (%s)", step.Verb)
		}
		if step.State != "" && !step.Started.IsZero() {
			fmt.Fprintf(&b, "  [%s]", step.State)
		}
		if step.Message != "" {
			fmt.Fprintf(&b, ": %s", firstLine(step.Message))
		}
		if step.Note != "" {
			fmt.Fprintf(&b, " (note: %s)", oneLine(step.Note))
		}
		for _, a := range step.Attempts {
			fmt.Fprintf(&b, "\n%26s  attempt %s: %s", fmt.Sprintf("+%.3fs", a.At.Sub(s.Started).Seconds()),
				a.At.UTC().Format(time.RFC3339Nano), firstLine(a.Outcome))
		}
	}
	return b.String()
}

// properties makes properties of names and values, leaving out those without a value.
func properties(namesAndValues ...string) []reporters.JUnitProperty {
	var list []reporters.JUnitProperty
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] != "" {
			list = append(list, reporters.JUnitProperty{Name: namesAndValues[i], Value: namesAndValues[i+1]})
		}
	}
	return list
}
