package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// byMark are the scenarios of a run by their marks, each judged by its own steps. If a track's cluster broke, its
// scenarios have that error.
func byMark(run *reports.Run) map[string][]*reports.Scenario {
	all := map[string][]*reports.Scenario{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			name, _, _ := strings.Cut(s.Name, separator)
			all[name] = append(all[name], withoutCleanup(s))
		}
	}
	return all
}

// withoutCleanup is the result of a scenario's own steps. The cleanup may be slow beside so many scenarios, and a fault
// may prevent it: neither says anything about the requirement.
func withoutCleanup(s *reports.Scenario) *reports.Scenario {
	last := len(s.Steps) - 1
	if len(s.KnownCovers) > 0 || last < 0 || s.Steps[last].Verb != reports.Cleanup {
		return s
	}
	own := *s
	own.Steps = s.Steps[:last]
	if s.Status != reports.Error {
		return &own
	}
	own.Status, own.Message = reports.Passed, ""
	for _, step := range own.Steps {
		if step.Status != reports.Passed {
			own.Status, own.Message = step.Status, step.Message
			break
		}
	}
	return &own
}

// problems are the reasons why scenarios did not pass although they should: those that failed, and those that could
// not be judged, because the cluster or Rehearse itself failed.
type problems struct{ failed, broken []string }

func (p *problems) add(s *reports.Scenario) {
	switch s.Status {
	case reports.Passed, reports.Known:
	case reports.Failed:
		p.failed = append(p.failed, reason(s))
	default:
		p.broken = append(p.broken, reason(s))
	}
}

// problemsOf are the problems of tracks without faults.
func problemsOf(tracks []*reports.Track) problems {
	all := problems{broken: redSetup(tracks)}
	for _, track := range tracks {
		for _, s := range track.Scenarios {
			all.add(s)
		}
	}
	return all
}

// reason is why a scenario did not pass.
func reason(s *reports.Scenario) string {
	return fmt.Sprintf("%s is %s\n%s", original(s.Name), s.Status, reports.Explain(s))
}

// redSetup are the reasons why clusters or their systems could not be created, changed or removed.
func redSetup(tracks []*reports.Track) []string {
	var reasons []string
	for _, track := range tracks {
		for _, step := range track.Setup {
			if step.Status == reports.Failed || step.Status == reports.Error {
				reasons = append(reasons, fmt.Sprintf("%s of %s (%s): %s", step.Verb, track.Name, step.Name, step.Message))
			}
		}
	}
	return reasons
}

// tracksOf are the tracks with scenarios whose marks begin with a text, and of their scenarios only those.
func tracksOf(run *reports.Run, mark string) []*reports.Track {
	var all []*reports.Track
	for _, track := range run.Tracks {
		own := *track
		own.Scenarios = slices.DeleteFunc(slices.Clone(track.Scenarios), func(s *reports.Scenario) bool {
			return !strings.HasPrefix(s.Name, mark)
		})
		if len(own.Scenarios) > 0 {
			all = append(all, &own)
		}
	}
	return all
}

// timeOf is the time from the creation of the first cluster of some tracks until the last one is deleted.
func timeOf(tracks []*reports.Track) time.Duration {
	var first, last time.Time
	for _, track := range tracks {
		for _, step := range track.Setup {
			if !step.Started.IsZero() && (first.IsZero() || step.Started.Before(first)) {
				first = step.Started
			}
			if step.Finished.After(last) {
				last = step.Finished
			}
		}
	}
	return reports.Elapsed(first, last)
}
