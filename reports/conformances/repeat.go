package conformances

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Repeated merges several reports of one suite and one implementation. A requirement or a scenario whose verdicts
// differ is unstable, which is not passed. So is a requirement that is met in different variants. If there is another
// report, those of interrupted runs count only where they failed.
func Repeated(list []*Report) *Report {
	all := slices.DeleteFunc(slices.Clone(list), func(r *Report) bool { return r.Interrupted })
	interrupted := len(all) < len(list)
	if len(all) == 0 {
		all = list[:1]
	}
	for _, r := range list {
		if failed := failuresOf(r, all); r.Interrupted && r != all[0] && len(failed.Requirements) > 0 {
			all = append(all, failed)
		}
	}
	merged := *all[0]
	merged.Interrupted, merged.Runs = interrupted, len(all)
	merged.Requirements, merged.Scenarios = slices.Clone(merged.Requirements), slices.Clone(merged.Scenarios)
	for i := range merged.Requirements {
		merged.Requirements[i] = repeatedRequirement(all, merged.Requirements[i])
	}
	for i := range merged.Scenarios {
		merged.Scenarios[i] = repeatedScenario(all, merged.Scenarios[i])
	}
	for _, r := range all[1:] { // readings, which ran because a requirement failed in that run
		for _, q := range r.Requirements {
			if !slices.ContainsFunc(merged.Requirements, func(known Requirement) bool { return known.ID == q.ID }) {
				merged.Requirements = append(merged.Requirements, repeatedRequirement(all, q))
			}
		}
		for _, s := range r.Scenarios {
			if !slices.ContainsFunc(merged.Scenarios, func(known Scenario) bool { return known.Name == s.Name }) {
				merged.Scenarios = append(merged.Scenarios, repeatedScenario(all, s))
			}
		}
	}
	merged.OutsideProfile = slices.DeleteFunc(slices.Clone(merged.OutsideProfile), func(id string) bool {
		return slices.ContainsFunc(merged.Requirements, func(q Requirement) bool { return q.ID == id })
	})
	merged.sum()
	return &merged
}

// failuresOf is the part of an interrupted run's report that is certain: what failed. What else the run saw of a failed
// requirement is left out. A scenario that was interrupted after a step had failed counts as failed. A requirement that
// other reports show to be met in another variant failed only if the run also tried that variant.
func failuresOf(r *Report, others []*Report) *Report {
	part, failed := &Report{}, map[string]bool{}
	for _, q := range r.Requirements {
		if q.Status != Failed || isMetInAVariant(q, others) && !r.failedReadings(q) {
			continue
		}
		q.Scenarios = Evidence{Failed: q.Scenarios.Failed, Decided: q.Scenarios.Decided}
		part.Requirements = append(part.Requirements, q)
		for _, name := range q.Scenarios.Failed {
			failed[name] = true
		}
	}
	for _, s := range r.Scenarios {
		if s.Status == Failed || failed[s.Name] {
			s.Status = Failed
			part.Scenarios = append(part.Scenarios, s)
		}
	}
	return part
}

// isMetInAVariant reports whether one of the reports shows that a failed requirement is met in another variant.
func isMetInAVariant(failed Requirement, all []*Report) bool {
	met := func(q Requirement) bool {
		return q.ID == failed.ID && q.Variant != "" && slices.ContainsFunc(q.Scenarios.Others, func(name string) bool {
			return slices.Contains(failed.Scenarios.Failed, name)
		})
	}
	return slices.ContainsFunc(all, func(r *Report) bool { return slices.ContainsFunc(r.Requirements, met) })
}

// failedReadings reports whether the run also showed that the requirement is not met in another variant.
func (r *Report) failedReadings(q Requirement) bool {
	return len(q.Scenarios.Others) > 0 && !slices.ContainsFunc(r.Scenarios, func(s Scenario) bool {
		return slices.Contains(q.Scenarios.Others, s.Name) && s.Status != Failed
	})
}

func repeatedRequirement(all []*Report, q Requirement) Requirement {
	var seen []Requirement
	var statuses []Status
	var variants []string
	for _, r := range all {
		for _, other := range r.Requirements {
			if other.ID == q.ID {
				seen, statuses = append(seen, other), append(statuses, other.Status)
				variants = append(variants, other.Variant)
			}
		}
	}
	judged := judgedOf(statuses)
	switch {
	case plain.Vary(judged):
	case len(judged) > 0 && len(judged) < len(statuses):
		n := partly(statuses, judged[0])
		if q = seen[n]; q.Status == Untested {
			q.Reason = fmt.Sprintf("untested in run %d: %s", n+1, q.Reason)
		}
		q.Runs = statuses
		return q
	case q.Status == Passed && plain.Vary(variants):
		q.Status, q.Reason, q.Variant, q.Variants = Unstable, "met as "+plain.InRuns(variants), "", variants
		return q
	default:
		return q
	}
	n := slices.IndexFunc(statuses, notPassed)
	unstable := seen[n]
	unstable.Status, unstable.Runs = Unstable, statuses
	unstable.Reason = fmt.Sprintf("%s; in run %d: %s", plain.InRuns(statuses), n+1, seen[n].Reason)
	return unstable
}

func repeatedScenario(all []*Report, s Scenario) Scenario {
	var seen []Scenario
	var statuses []Status
	for _, r := range all {
		for _, other := range r.Scenarios {
			if other.Name == s.Name {
				seen, statuses = append(seen, other), append(statuses, other.Status)
			}
		}
	}
	judged := judgedOf(statuses)
	switch {
	case plain.Vary(judged):
	case len(judged) > 0 && len(judged) < len(statuses):
		s = seen[partly(statuses, judged[0])]
		s.Runs = statuses
		return s
	default:
		return s
	}
	unstable := seen[slices.IndexFunc(statuses, notPassed)]
	unstable.Status, unstable.Runs = Unstable, statuses
	unstable.Reason = plain.InRuns(statuses) + plain.Prefixed("; ", unstable.Reason)
	return unstable
}

// judgedOf are the statuses of the runs that have a verdict: what one run could not judge does not differ from the
// others.
func judgedOf(statuses []Status) []Status {
	return slices.DeleteFunc(slices.Clone(statuses), func(s Status) bool { return s == Untested })
}

// partly is the index of the run that shows the result if some runs have no verdict, and all others the same: without
// all verdicts, nothing has passed.
func partly(statuses []Status, judged Status) int {
	if judged == Passed {
		judged = Untested
	}
	return slices.Index(statuses, judged)
}

// notPassed reports whether a status is a verdict other than passed.
func notPassed(s Status) bool { return s != Passed && s != Untested }
