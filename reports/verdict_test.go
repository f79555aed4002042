package reports_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

// A scenario's status follows from the statuses of its steps and from the status that the caller gives.
func TestScenarioStatus(t *testing.T) {
	const (
		notRun, passed, failed, errored, known = reports.NotRun, reports.Passed, reports.Failed, reports.Error, reports.Known
		nothing                                = reports.Status("")
	)
	steps := func(s ...reports.Status) []reports.Status { return s }
	for _, c := range []struct {
		name    string
		steps   []reports.Status
		told    reports.Status
		want    reports.Status
		mistake string
	}{
		{"all passed", steps(passed, passed), nothing, passed, ""},
		{"said and done", steps(passed, passed), passed, passed, ""},
		{"no steps", steps(), nothing, notRun, ""},
		{"no steps, said to have passed", steps(), passed, notRun, "according to its steps it is notRun"},
		{"one not run", steps(passed, notRun), nothing, notRun, ""},
		{"one not run, said to have passed", steps(passed, notRun), passed, notRun, "according to its steps it is notRun"},
		{"none run", steps(notRun, notRun), nothing, notRun, ""},
		{"failed", steps(passed, failed, notRun), nothing, failed, ""},
		{"failed, said to have passed", steps(failed), passed, failed, "according to its steps it is failed"},
		{"failed, said to have not run", steps(failed, notRun), notRun, failed, ""},
		{"error", steps(passed, errored, notRun), nothing, errored, ""},
		{"failed, and then an error", steps(failed, errored), nothing, failed, ""},
		{"an error, and then failed", steps(errored, failed), nothing, errored, ""},
		{"several failed", steps(failed, passed, failed), nothing, failed, ""},
		{"two known failures, said to be known", steps(known, known), known, known, ""},
		{"one of two is known, said to be known", steps(known, failed), known, failed, ""},
		{"error, said to have failed", steps(errored), failed, errored, ""},
		{"failed, said to be an error", steps(failed), errored, errored, ""},
		{"unexpected success", steps(passed), failed, failed, ""},
		{"cleanup broke", steps(passed), errored, errored, ""},
		{"dropped out", steps(passed), notRun, notRun, ""},
		{"nothing ran, said to have failed", steps(notRun), failed, failed, ""},
		{"known", steps(passed, failed, notRun), known, known, ""},
		{"known by its step", steps(passed, known), nothing, known, ""},
		{"known by several steps", steps(known, passed, known), nothing, known, ""},
		{"known, and what needed it did not run", steps(known, notRun, passed), nothing, known, ""},
		{"known, then another failure", steps(known, failed, passed), nothing, failed, ""},
		{"known, then an error", steps(known, passed, errored), nothing, errored, ""},
		{"known, but it did not come to its end", steps(known, notRun), notRun, notRun, ""},
		{"known, and another known issue did not happen", steps(known, passed), failed, failed, ""},
		{"known, but a second step failed", steps(failed, failed), known, failed, ""},
		{"known, but there was an error", steps(failed, errored), known, errored, ""},
		{"known, but nothing failed", steps(passed), known, errored, "no step failed"},
		{"known, but nothing ran", steps(notRun), known, errored, "no step failed"},
		{"no such status", steps(passed), "fine", errored, `"fine"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			scenario := &reports.Scenario{Name: "it"}
			for range c.steps {
				scenario.Steps = append(scenario.Steps, &reports.Step{Verb: "create"})
			}
			s := reporttest.NewStage(&reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{scenario}}}})
			s.Begin(0, 0)
			for i, status := range c.steps {
				if status != notRun {
					s.Step(0, 0, i, 1, reports.Outcome{Status: status})
				}
			}
			s.End(0, 0, reports.Verdict{Status: c.told})
			err := s.Finish()
			if got := s.Run().Tracks[0].Scenarios[0].Status; got != c.want {
				t.Errorf("status %s, want %s", got, c.want)
			}
			golden.Error(t, err, c.mistake)
		})
	}
}

func TestExitCode(t *testing.T) {
	run := func(statuses ...reports.Status) *reports.Run {
		track := &reports.Track{}
		for _, s := range statuses {
			track.Scenarios = append(track.Scenarios, &reports.Scenario{Status: s})
		}
		return &reports.Run{Tracks: []*reports.Track{track}}
	}
	with := func(r *reports.Run, change func(*reports.Run)) *reports.Run {
		change(r)
		return r
	}
	setup := func(s reports.Step) func(*reports.Run) {
		return func(r *reports.Run) { r.Tracks[0].Setup = []*reports.Step{&s} }
	}
	interrupt := func(r *reports.Run) { r.Interrupted = true }
	for name, c := range map[string]struct {
		run  *reports.Run
		want int
	}{
		"passed":                        {run(reports.Passed, reports.Passed), 0},
		"passed and known":              {run(reports.Passed, reports.Known), 0},
		"failed":                        {run(reports.Passed, reports.Failed), 1},
		"error":                         {run(reports.Passed, reports.Error), 3},
		"failed and error":              {run(reports.Error, reports.Failed), 1},
		"not run":                       {run(reports.Passed, reports.NotRun), 3},
		"failed and not run":            {run(reports.NotRun, reports.Failed), 1},
		"no status at all":              {run(reports.Passed, ""), 3},
		"no scenarios":                  {run(), 2},
		"nothing":                       {&reports.Run{}, 2},
		"interrupted":                   {with(run(reports.Passed), interrupt), 130},
		"interrupted and failed":        {with(run(reports.Failed), interrupt), 130},
		"interrupted with no scenarios": {with(run(), interrupt), 130},
		"setup passed":                  {with(run(reports.Passed), setup(reports.Step{Status: reports.Passed})), 0},
		"setup failed":                  {with(run(reports.Passed), setup(reports.Step{Status: reports.Failed})), 3},
		"setup error":                   {with(run(reports.Passed), setup(reports.Step{Status: reports.Error})), 3},
		"setup never ended": {with(run(reports.Passed),
			setup(reports.Step{Status: reports.NotRun, Started: reporttest.Began})), 3},
		"setup never needed":            {with(run(reports.Known), setup(reports.Step{Status: reports.NotRun})), 0},
		"setup failed, scenario failed": {with(run(reports.Failed), setup(reports.Step{Status: reports.Error})), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reports.ExitCode(c.run); got != c.want {
				t.Errorf("exit code %d, want %d (%s)", got, c.want, reports.Count(c.run))
			}
		})
	}
}
