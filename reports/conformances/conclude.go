package conformances

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// The levels of requirements in a Report.
const (
	coreLevel     = "core"
	extendedLevel = "extended"
)

// Conclude derives the statuses and reasons of the requirements from the evidence, and from these the variants, the
// levels and the summary.
func (r *Report) Conclude() {
	reasons := map[string]string{}
	for _, s := range r.Scenarios {
		reasons[s.Name] = s.Reason
	}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Status = q.Scenarios.status()
		q.Reason = q.Scenarios.reason(q.Status, reasons)
	}
	r.sum()
}

// Interrupt records that the run did not finish.
func (r *Report) Interrupt() {
	r.Interrupted = true
	r.sum()
}

// sum derives the variants, the levels and the summary from the statuses.
func (r *Report) sum() {
	r.Variants = variantsOf(r.Scenarios)
	r.Core, r.Extended = r.level(coreLevel), r.level(extendedLevel)
	r.Summary = sentence("Core", r.Core) + " " + sentence("Extended", r.Extended)
	if r.Focus != "" {
		r.Summary = fmt.Sprintf("Only scenarios that match %s. %s", r.Focus, r.Summary)
	}
	if r.Runs > 1 {
		r.Summary = fmt.Sprintf("In %d runs: %s", r.Runs, r.Summary)
	}
	if r.Interrupted {
		r.Summary = "The run was interrupted. " + r.Summary
	}
}

// status returns the status that follows from the evidence: the worst result decides, and an unknown one is worse
// than passed.
func (e Evidence) status() Status {
	switch {
	case len(e.Failed) > 0:
		return Failed
	case len(e.Known) > 0:
		return Known
	case len(e.Untested) > 0 || len(e.Passed) == 0:
		return Untested
	default:
		return Passed
	}
}

// reason returns the reason of a status: that of the first scenario with this result.
func (e Evidence) reason(status Status, reasons map[string]string) string {
	var decisive []string
	switch status {
	case Failed:
		decisive = e.Failed
	case Known:
		decisive = e.Known
	case Untested:
		decisive = slices.Concat(e.Untested, e.Ended, e.Skipped)
		if len(decisive) == 0 {
			return "no scenario covers it"
		}
	default:
		return ""
	}
	reason := decisive[0] + plain.Prefixed(": ", reasons[decisive[0]])
	if step := e.Decided[decisive[0]]; step != "" && status != Known {
		reason = decisive[0] + ", " + step
	}
	if more := len(decisive) - 1; more > 0 {
		reason += fmt.Sprintf(" (and %s)", plain.Plural(more, "other scenario"))
	}
	return reason
}

func variantsOf(list []Scenario) []Variant {
	found := map[string]*Variant{}
	var names []string
	for _, s := range list {
		for _, name := range s.Variants {
			v := found[name]
			if v == nil {
				v = &Variant{Name: name}
				found[name], names = v, append(names, name)
			}
			switch s.Status {
			case Passed:
				v.Passed++
			case Failed:
				v.Failed++
			case Known:
				v.Known++
			default:
				v.Untested++
			}
		}
	}
	slices.Sort(names)
	var all []Variant
	for _, name := range names {
		all = append(all, *found[name])
	}
	return all
}

func (r *Report) level(name string) Level {
	var l Level
	for _, q := range r.Requirements {
		if q.Level != name {
			continue
		}
		switch q.Status {
		case Passed:
			l.Statistics.Passed++
		case Failed:
			l.Statistics.Failed++
		case Known:
			l.Statistics.Known++
		case Unstable:
			l.Statistics.Unstable++
		default:
			l.Statistics.Untested++
		}
	}
	switch n := l.Statistics; {
	case n.Total() == 0:
		l.Result = NothingRequired
	case n.Failed+n.Unstable > 0:
		l.Result = Failure
	case n.Passed < n.Total():
		l.Result = Partial
	default:
		l.Result = Success
	}
	return l
}

// Total returns the number of requirements.
func (s Statistics) Total() int {
	return s.Passed + s.Failed + s.Known + s.Untested + s.Unstable
}

// String returns "18 of 20 passed, 1 failed, 1 untested". It omits zeros.
func (s Statistics) String() string {
	parts := []string{fmt.Sprintf("%d of %d passed", s.Passed, s.Total())}
	for _, part := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Unstable, "unstable"}, {s.Known, "known to fail"}, {s.Untested, "untested"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

func sentence(level string, l Level) string {
	switch l.Result {
	case NothingRequired:
		return level + ": nothing is required."
	case Success:
		return fmt.Sprintf("%s: all %s passed.", level, plain.Plural(l.Statistics.Total(), "requirement"))
	default:
		return fmt.Sprintf("%s: %s.", level, l.Statistics)
	}
}

// ExitCode returns the exit code of a command that made the report: 130 after an interrupt; 1 if a requirement failed
// or is unstable; 3 if one could not be judged, or if there is none; 0 if each is met, or known not to be.
func (r *Report) ExitCode() int {
	switch {
	case r.Interrupted:
		return reports.ExitInterrupted
	case r.Core.Statistics.Failed+r.Extended.Statistics.Failed+r.Core.Statistics.Unstable+
		r.Extended.Statistics.Unstable > 0:
		return reports.ExitFailed
	case r.Core.Statistics.Untested+r.Extended.Statistics.Untested > 0, len(r.Requirements) == 0:
		return reports.ExitError
	default:
		return reports.ExitPassed
	}
}
