package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports/internal/folder"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// unstable marks a scenario whose results differ between runs.
const unstable = "unstable"

// scenarioCase is a scenario as a JUnit case.
func scenarioCase(run *Run, track *Track, s *Scenario) reporters.JUnitTestCase {
	c := reporters.JUnitTestCase{
		Name: s.Name, Status: string(s.Status.OrNotRun()), Time: folder.Seconds(s.Duration()), SystemOut: stepLog(s),
	}
	c.Properties = &reporters.JUnitProperties{Properties: properties(
		"requirements", strings.Join(s.Covers, ", "),
		"versions", strings.Join(s.Versions, ", "),
		"gates", gatesOf(s),
		"track", track.Name,
		"namespace", s.Namespace,
		"file", Location(s),
		"known-issue", s.KnownIssue,
		"artifacts", artifactsOf(s),
	)}
	switch s.Status {
	case Passed:
	case Failed:
		c.Failure = &reporters.JUnitFailure{Message: Reason(s), Type: string(Failed), Description: Explain(s)}
	case Error:
		c.Error = &reporters.JUnitError{Message: Reason(s), Type: string(Error), Description: Explain(s)}
	case Known:
		c.Skipped = &reporters.JUnitSkipped{Message: KnownReason(s)}
		c.SystemOut += "\n\n" + Explain(s)
	default:
		if len(s.Runs) > 0 {
			c.Failure = &reporters.JUnitFailure{
				Message: Reason(s), Type: unstable,
				Description: Explain(s),
			}
			break
		}
		c.Skipped = &reporters.JUnitSkipped{Message: WhyNotRun(run, track, s)}
	}
	return c
}

// setupSummary is one line about the result of work on a cluster.
func setupSummary(run *Run, track *Track, s *Step) string {
	text := setupTitle(s)
	if names := Called(s); names != "" {
		text += " " + names
	}
	switch s.Status.OrNotRun() {
	case Passed:
		return fmt.Sprintf("%s: %.3fs", text, s.Duration().Seconds())
	case NotRun:
		return text + ": not run: " + whySetupNotRun(run, track, s)
	default:
		return fmt.Sprintf("%s: %s after %.3fs: %s", text, s.Status, s.Duration().Seconds(), plain.FirstLine(s.Message))
	}
}

// setupCase is a JUnit case for a track whose setup failed; nil if it did not fail.
func setupCase(run *Run, track *Track) *reporters.JUnitTestCase {
	var parts []string
	var first *Step
	for _, step := range track.Setup {
		if !SetupBroken(run, step) {
			continue
		}
		if first == nil {
			first = step
		}
		parts = append(parts, setupTitle(step)+"\n"+ExplainSetup(run, track, step))
	}
	if first == nil {
		return nil
	}
	message := setupTitle(first) + ": " + plain.FirstLine(first.Message)
	if first.Status.OrNotRun() == NotRun {
		message = setupTitle(first) + ": " + whySetupNotRun(run, track, first)
	}
	text := strings.Join(parts, "\n\n")
	c := &reporters.JUnitTestCase{Name: "cluster of " + track.Name, Time: folder.Seconds(first.Duration())}
	if first.Status == Failed {
		c.Status, c.Failure = string(Failed), &reporters.JUnitFailure{
			Message: message, Type: string(Failed),
			Description: text,
		}
	} else {
		c.Status, c.Error = string(Error), &reporters.JUnitError{Message: message, Type: string(Error), Description: text}
	}
	return c
}

// endedEarlyCase is a JUnit case for a run that was interrupted or killed before all of its scenarios ended, or before
// all of its repetitions; nil if it came to its end. Skipped cases alone would look like a success.
func endedEarlyCase(run *Run) *reporters.JUnitTestCase {
	left, why := Count(run).NotRun, endedEarly(run)
	if why == "" || left == 0 && run.Runs == 0 {
		return nil
	}
	message := fmt.Sprintf("%s: %s not run", why, plain.Plural(left, "scenario"))
	if left == 0 {
		message = fmt.Sprintf("%s: this is the result of %s", why, plain.Plural(run.Runs, "run"))
	}
	return &reporters.JUnitTestCase{
		Name: "the whole run", Status: string(Error),
		Error: &reporters.JUnitError{Message: message, Type: string(Error), Description: message},
	}
}

// endedEarly says that a run was interrupted or killed; "" if it came to its end.
func endedEarly(run *Run) string {
	switch {
	case run.Interrupted && run.Runs > 0:
		return "Some repetitions did not run to their end"
	case run.Interrupted:
		return "The run was interrupted"
	case run.Finished.IsZero():
		return "The run did not end"
	}
	return ""
}

// Reason says in one line why a scenario did not pass.
func Reason(s *Scenario) string {
	if len(s.Runs) > 0 {
		once := *s
		once.Runs = nil
		return Unstable(s) + ": " + Reason(&once)
	}
	if line := plain.FirstLine(s.Message); line != "" {
		return line
	}
	if step := DecisiveStep(s); step != nil {
		return DecisiveLine(s, step)
	}
	return "no reason was recorded"
}

func KnownReason(s *Scenario) string {
	if s.KnownIssue != "" {
		return "known issue: " + s.KnownIssue
	}
	return "known issue: " + Reason(s)
}

// stepLog lists a scenario's steps: status, start relative to the scenario's, own time, title, message, remarks and
// attempts.
func stepLog(s *Scenario) string {
	var b strings.Builder
	for i, step := range s.Steps {
		if i > 0 {
			b.WriteByte('\n')
		}
		when, took := "", ""
		if !step.Started.IsZero() {
			when = fmt.Sprintf("+%.3fs", max(step.Started.Sub(s.Started), 0).Seconds())
			if !step.Finished.IsZero() {
				took = fmt.Sprintf("%.3fs", step.Duration().Seconds())
			}
		}
		fmt.Fprintf(&b, "%-6s %9s %9s  %s", step.Status.OrNotRun(), when, took, TitleWithVerb(step))
		if step.State != "" && !step.Started.IsZero() {
			fmt.Fprintf(&b, "  [%s]", step.State)
		}
		if step.Message != "" {
			fmt.Fprintf(&b, ": %s", plain.FirstLine(step.Message))
		}
		for _, line := range remarks(step) {
			fmt.Fprintf(&b, "\n%26s  %s", "", line)
		}
		for _, a := range step.Attempts {
			fmt.Fprintf(&b, "\n%26s  attempt %s: %s", fmt.Sprintf("+%.3fs", a.At.Sub(s.Started).Seconds()),
				a.At.UTC().Format(time.RFC3339Nano), plain.FirstLine(a.Outcome))
		}
	}
	return b.String()
}

// remarks are a step's note, and the time that it spent together with the other scenarios of its track.
func remarks(s *Step) []string {
	var all []string
	if s.Note != "" {
		all = append(all, "note: "+plain.OneLine(s.Note))
	}
	if shared := strings.TrimPrefix(sharedTime(s), ", and "); shared != "" {
		all = append(all, "besides its own time: "+shared)
	}
	return all
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
