package reports

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// RepeatedRun combines several runs of one plan. Each scenario has its first result that is not a success, or its
// first result if all are. If the statuses differ, Runs lists all of them.
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
	if len(all) == 0 { // only interrupted runs, in which it did not run
		return &Scenario{Name: name, Status: NotRun}
	}
	decides := all[max(0, slices.IndexFunc(all, func(s *Scenario) bool {
		return s.Status != Passed &&
			s.Status != Known
	}))]
	if !plain.Vary(statuses) {
		return decides
	}
	unstable := *decides
	unstable.Runs = statuses
	return &unstable
}

// WriteFiles writes junit.xml, run.json and more reports of a finished run into the folder.
func WriteFiles(dir string, run *Run, more ...FileFormat) error {
	var errs []error
	for _, format := range withDefaults(more) {
		data, err := format.Encode(run)
		if err == nil {
			err = ReplaceFile(filepath.Join(dir, format.File), data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
