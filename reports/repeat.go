package reports

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// RepeatedRun combines several runs of one plan. Each scenario has its first result that is not a success, or its
// first result if all are. If the statuses differ, Runs lists all of them. The same is true of the setup steps of the
// clusters, which have no Runs: the message of a step that is not of the first run names its run.
func RepeatedRun(runs []Part) *Run {
	merged := *runs[0].Run
	merged.Tracks, merged.Runs = nil, len(runs)
	for _, part := range runs {
		merged.Finished, merged.Interrupted = part.Run.Finished, merged.Interrupted || part.Run.Interrupted
	}
	for _, track := range runs[0].Run.Tracks {
		copied := *track
		copied.Scenarios, copied.Setup = nil, repeatedSetup(runs, track)
		for _, s := range track.Scenarios {
			copied.Scenarios = append(copied.Scenarios, repeatedScenario(runs, s.Name))
		}
		merged.Tracks = append(merged.Tracks, &copied)
	}
	return &merged
}

// repeatedSetup returns the setup steps of a track of the first run. A step that did not break there, but in another
// run, is replaced by the broken one. It keeps the times of the first run, to which those of the other steps belong.
func repeatedSetup(runs []Part, first *Track) []*Step {
	steps := slices.Clone(first.Setup)
	for _, part := range runs[1:] {
		for _, track := range part.Run.Tracks {
			if track.Name != first.Name {
				continue
			}
			for i, step := range track.Setup {
				if SetupBroken(part.Run, step) && i < len(steps) && !SetupBroken(runs[0].Run, steps[i]) {
					steps[i] = brokenLater(part, step, steps[i])
				}
			}
		}
	}
	return steps
}

// brokenLater returns a broken step of a later run in the place of that of the first run.
func brokenLater(part Part, step, first *Step) *Step {
	broken := *step
	broken.Message = fmt.Sprintf("in %s: %s", part.Prefix, cmp.Or(step.Message, "it did not end"))
	if !first.Finished.IsZero() {
		broken.Started, broken.Finished = first.Started, first.Finished
	}
	return &broken
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
	at := slices.Index(statuses, Failed)
	if at < 0 {
		at = max(0, slices.IndexFunc(statuses, func(s Status) bool { return s != Passed && s != Known }))
	}
	decides := all[at]
	if !plain.Vary(statuses) {
		return decides
	}
	unstable := *decides
	unstable.Runs = statuses
	return &unstable
}

// WriteFiles writes reports of a finished run into the folder.
func WriteFiles(dir string, run *Run, formats ...FileFormat) error {
	var errs []error
	for _, format := range formats {
		data, err := format.Encode(run)
		if err == nil {
			err = ReplaceFile(filepath.Join(dir, format.File), data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
