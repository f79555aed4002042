package reports

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// RepeatedRun is one run of several of one plan: each scenario as it came out the first time when it was not a success,
// or else the first time. What came out differently has in Runs what came of it each time, and is no success.
func RepeatedRun(runs []Part) *Run {
	merged := *runs[0].Run
	merged.Tracks = nil
	for _, part := range runs {
		merged.Finished, merged.Interrupted = part.Run.Finished, merged.Interrupted || part.Run.Interrupted
	}
	for _, track := range runs[0].Run.Tracks {
		copied := *track
		copied.Scenarios = nil
		for _, s := range track.Scenarios {
			copied.Scenarios = append(copied.Scenarios, repeatedScenario(runs, s.Name))
		}
		merged.Tracks = append(merged.Tracks, &copied)
	}
	return &merged
}

func repeatedScenario(runs []Part, name string) *Scenario {
	var all []*Scenario
	var statuses []Status
	for _, part := range runs {
		for _, track := range part.Run.Tracks {
			for _, s := range track.Scenarios {
				if s.Name == name && (!part.Run.Interrupted || s.Status != NotRun || len(runs) == 1) {
					all, statuses = append(all, part.scenario(s)), append(statuses, s.Status)
				}
			}
		}
	}
	if len(all) == 0 { // only interrupted runs, in which it was not run
		return &Scenario{Name: name, Status: NotRun}
	}
	decides := all[max(0, slices.IndexFunc(all, func(s *Scenario) bool {
		return s.Status != Passed &&
			s.Status != Known
	}))]
	if !vary(statuses) {
		return decides
	}
	unstable := *decides
	unstable.Runs = statuses
	return &unstable
}

func vary[T comparable](list []T) bool {
	return len(list) > 0 && slices.ContainsFunc(list, func(other T) bool { return other != list[0] })
}

// WriteFiles writes junit.xml, run.json and more reports of a run that has ended into the folder.
func WriteFiles(dir string, run *Run, more ...FileFormat) error {
	var errs []error
	for _, format := range withDefaults(more) {
		data, err := format.Encode(run)
		if err == nil {
			err = replaceFile(filepath.Join(dir, format.File), data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// RepeatedConformance is one report of several of one suite and one implementation. A requirement or a scenario whose
// verdicts differ is unstable, which is not passed. Of a run that was interrupted only what came of the others is
// taken, where there is another.
func RepeatedConformance(list []*ConformanceReport) *ConformanceReport {
	all := slices.DeleteFunc(slices.Clone(list), func(r *ConformanceReport) bool { return r.Interrupted })
	interrupted := len(all) < len(list)
	if len(all) == 0 {
		all = list[:1]
	}
	merged := *all[0]
	merged.Interrupted, merged.Runs = interrupted, len(all)
	merged.Requirements, merged.Scenarios = slices.Clone(merged.Requirements), slices.Clone(merged.Scenarios)
	for i := range merged.Requirements {
		merged.Requirements[i] = repeatedRequirement(all, merged.Requirements[i])
	}
	for i := range merged.Scenarios {
		merged.Scenarios[i] = repeatedConformanceScenario(all, merged.Scenarios[i])
	}
	for _, r := range all[1:] { // readings, which ran because a requirement failed that time
		for _, s := range r.Scenarios {
			if !slices.ContainsFunc(merged.Scenarios, func(known ConformanceScenario) bool { return known.Name == s.Name }) {
				merged.Scenarios = append(merged.Scenarios, s)
			}
		}
	}
	merged.sum()
	return &merged
}

func repeatedRequirement(all []*ConformanceReport, q ConformanceRequirement) ConformanceRequirement {
	var seen []ConformanceRequirement
	var statuses []ConformanceStatus
	for _, r := range all {
		for _, other := range r.Requirements {
			if other.ID == q.ID {
				seen, statuses = append(seen, other), append(statuses, other.Status)
			}
		}
	}
	if !vary(statuses) {
		return q
	}
	n := slices.IndexFunc(seen, func(other ConformanceRequirement) bool { return other.Status != ConformancePassed })
	unstable := seen[n]
	unstable.Status, unstable.Runs = ConformanceUnstable, statuses
	unstable.Reason = fmt.Sprintf("%s; in run %d: %s", inRuns(statuses), n+1, seen[n].Reason)
	return unstable
}

func repeatedConformanceScenario(all []*ConformanceReport, s ConformanceScenario) ConformanceScenario {
	var seen []ConformanceScenario
	var statuses []ConformanceStatus
	for _, r := range all {
		for _, other := range r.Scenarios {
			if other.Name == s.Name {
				seen, statuses = append(seen, other), append(statuses, other.Status)
			}
		}
	}
	if !vary(statuses) {
		return s
	}
	unstable := seen[slices.IndexFunc(seen,
		func(other ConformanceScenario) bool { return other.Status != ConformancePassed })]
	unstable.Status, unstable.Runs = ConformanceUnstable, statuses
	unstable.Reason = inRuns(statuses) + orNothing("; ", unstable.Reason)
	return unstable
}

// inRuns is "passed in 2 of 3 runs, failed in run 2".
func inRuns[S ~string](statuses []S) string {
	var order []S
	runs := map[S][]string{}
	for i, status := range statuses {
		if runs[status] == nil {
			order = append(order, status)
		}
		runs[status] = append(runs[status], fmt.Sprint(i+1))
	}
	var parts []string
	for _, status := range order {
		which := "run " + strings.Join(runs[status], ", ")
		if n := len(runs[status]); n > 3 {
			which = fmt.Sprintf("%d of %d runs", n, len(statuses))
		}
		parts = append(parts, fmt.Sprintf("%s in %s", status, which))
	}
	return strings.Join(parts, ", ")
}
