package reports

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Counts are the numbers of scenarios by status, and of setup steps that went wrong.
type Counts struct {
	Passed, Known, Failed, Errors, NotRun, Skipped int
	// Setup counts the setup steps that failed, or that never ended although the run was not interrupted.
	Setup int
}

// Count counts the scenarios of a run by status, and its broken setup steps. An unknown status counts as not run.
func Count(run *Run) Counts {
	var c Counts
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			if SetupBroken(run, s) {
				c.Setup++
			}
		}
		for _, s := range t.Scenarios {
			switch s.Status {
			case Passed:
				c.Passed++
			case Known:
				c.Known++
			case Failed:
				c.Failed++
			case Error:
				c.Errors++
			case Skipped:
				c.Skipped++
			default:
				c.NotRun++
			}
		}
	}
	return c
}

// SetupBroken reports whether a setup step failed, or began and never ended although the run was not interrupted. A
// step that never began is not broken: if all scenarios of its track have ended, it is no longer needed.
func SetupBroken(run *Run, s *Step) bool {
	switch s.Status {
	case Passed:
		return false
	case Failed, Error, Known:
		return true
	default:
		return !s.Started.IsZero() && !run.Interrupted
	}
}

// Total number of scenarios.
func (c Counts) Total() int { return c.Passed + c.Known + c.Failed + c.Errors + c.NotRun + c.Skipped }

// String is "41 passed, 0 failed, 1 failed with a known issue, 2 not run". Counts other than passed and failed are
// omitted if they are 0.
func (c Counts) String() string {
	text := fmt.Sprintf("%d passed, %d failed", c.Passed, c.Failed)
	for _, more := range []struct {
		n    int
		what string
	}{
		{c.Known, fmt.Sprintf("%d failed with a known issue", c.Known)},
		{c.Errors, plain.Plural(c.Errors, "error")},
		{c.NotRun, fmt.Sprintf("%d not run", c.NotRun)},
		{c.Skipped, fmt.Sprintf("%d skipped", c.Skipped)},
		{c.Setup, plain.Plural(c.Setup, "setup step") + " failed"},
	} {
		if more.n > 0 {
			text += ", " + more.what
		}
	}
	return text
}

// The exit codes of a run.
const (
	ExitPassed      = 0
	ExitFailed      = 1
	ExitInput       = 2
	ExitError       = 3
	ExitInterrupted = 130
)

// ExitCode is the process's exit code for a finished run, the first of these that applies:
//
//   - 130: the run was interrupted.
//   - 2: it has no scenarios, or all were skipped; a run that ran nothing is not a success.
//   - 1: a scenario failed. This outranks 3: a failed scenario is a finding, which a better machine would not remove,
//     while an error only means that there may be more findings. A retry after 3 would only find the failure again.
//   - 3: a scenario or a setup step is an error, a setup step failed, or a scenario did not run.
//   - 0: every scenario passed, failed with its known issue, or was skipped.
func ExitCode(run *Run) int {
	c := Count(run)
	switch {
	case run.Interrupted:
		return ExitInterrupted
	case c.Total() == c.Skipped && run.Shard == nil: // a shard may have nothing to do
		return ExitInput
	case c.Failed > 0:
		return ExitFailed
	case c.Errors > 0 || c.NotRun > 0 || c.Setup > 0:
		return ExitError
	default:
		return ExitPassed
	}
}
