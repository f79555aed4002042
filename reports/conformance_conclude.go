package reports

import (
	"fmt"
	"slices"
	"strings"
)

// The levels of requirements in a ConformanceReport.
const (
	coreLevel     = "core"
	extendedLevel = "extended"
)

// Conclude draws what follows from the report's scenarios and from its requirements' evidence: the requirements'
// statuses and reasons, the variants, the levels and the summary.
func (r *ConformanceReport) Conclude() {
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

// sum draws the variants, the levels and the summary from the statuses.
func (r *ConformanceReport) sum() {
	r.Variants = variantsOf(r.Scenarios)
	r.Core, r.Extended = r.level(coreLevel), r.level(extendedLevel)
	r.Summary = sentence("Core", r.Core) + " " + sentence("Extended", r.Extended)
	if r.Runs > 1 {
		r.Summary = fmt.Sprintf("In %d runs: %s", r.Runs, r.Summary)
	}
	if r.Interrupted {
		r.Summary = "The run was interrupted. " + r.Summary
	}
}

// status that follows from the evidence. What went wrong weighs more than what went well, and what is not known more
// than that, too.
func (e ConformanceEvidence) status() ConformanceStatus {
	switch {
	case len(e.Failed) > 0:
		return ConformanceFailed
	case len(e.Known) > 0:
		return ConformanceKnown
	case len(e.Untested) > 0 || len(e.Passed) == 0:
		return ConformanceUntested
	default:
		return ConformancePassed
	}
}

// reason of a status: that of the first scenario that brought it about.
func (e ConformanceEvidence) reason(status ConformanceStatus, reasons map[string]string) string {
	var decisive []string
	switch status {
	case ConformanceFailed:
		decisive = e.Failed
	case ConformanceKnown:
		decisive = e.Known
	case ConformanceUntested:
		decisive = slices.Concat(e.Untested, e.Ended, e.Skipped)
		if len(decisive) == 0 {
			return "no scenario covers it"
		}
	default:
		return ""
	}
	reason := decisive[0] + orNothing(": ", reasons[decisive[0]])
	if step := e.Decided[decisive[0]]; step != "" && status != ConformanceKnown {
		reason = decisive[0] + ", " + step
	}
	if more := len(decisive) - 1; more > 0 {
		reason += fmt.Sprintf(" (and %s)", plural(more, "other scenario"))
	}
	return reason
}

func variantsOf(list []ConformanceScenario) []ConformanceVariant {
	found := map[string]*ConformanceVariant{}
	var names []string
	for _, s := range list {
		for _, name := range s.Variants {
			v := found[name]
			if v == nil {
				v = &ConformanceVariant{Name: name}
				found[name], names = v, append(names, name)
			}
			switch s.Status {
			case ConformancePassed:
				v.Passed++
			case ConformanceFailed:
				v.Failed++
			case ConformanceKnown:
				v.Known++
			default:
				v.Untested++
			}
		}
	}
	slices.Sort(names)
	var all []ConformanceVariant
	for _, name := range names {
		all = append(all, *found[name])
	}
	return all
}

func (r *ConformanceReport) level(name string) ConformanceLevel {
	var l ConformanceLevel
	for _, q := range r.Requirements {
		if q.Level != name {
			continue
		}
		switch q.Status {
		case ConformancePassed:
			l.Statistics.Passed++
		case ConformanceFailed:
			l.Statistics.Failed++
		case ConformanceKnown:
			l.Statistics.Known++
		case ConformanceUnstable:
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

// Total number of requirements.
func (s ConformanceStatistics) Total() int {
	return s.Passed + s.Failed + s.Known + s.Untested + s.Unstable
}

// String is "18 of 20 passed, 1 failed, 1 untested": zeros are left out.
func (s ConformanceStatistics) String() string {
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

func sentence(level string, l ConformanceLevel) string {
	switch l.Result {
	case NothingRequired:
		return level + ": nothing is required."
	case Success:
		return fmt.Sprintf("%s: all %s passed.", level, plural(l.Statistics.Total(), "requirement"))
	default:
		return fmt.Sprintf("%s: %s.", level, l.Statistics)
	}
}

// ExitCode is what a command that made the report ends with: 130 after an interrupt; 1 when a requirement failed or was
// unstable; 3 when one could not be judged; 0 when each is met, or known not to be.
func (r *ConformanceReport) ExitCode() int {
	switch {
	case r.Interrupted:
		return ExitInterrupted
	case r.Core.Statistics.Failed+r.Extended.Statistics.Failed+r.Core.Statistics.Unstable+
		r.Extended.Statistics.Unstable > 0:
		return ExitFailed
	case r.Core.Statistics.Untested+r.Extended.Statistics.Untested > 0, len(r.Requirements) == 0:
		return ExitError
	default:
		return ExitPassed
	}
}
