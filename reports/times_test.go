package reports_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

// The time that all scenarios of a track share (waiting for each other, and the transition) counts for none of them.
func TestOwnTimes(t *testing.T) {
	s := reporttest.NewStage(reporttest.Plan())
	scenario := s.Scenario(0, 0)
	cleanup := &reports.Step{Verb: reports.Cleanup}
	s.Begin(0, 0)
	s.Step(0, 0, 0, 9, reporttest.Passed)
	s.StartStep(scenario, scenario.Steps[1], reporttest.GateOff)
	s.Wait(5000)
	s.FinishStep(scenario, scenario.Steps[1], reports.Outcome{
		Status: reports.Passed, Waited: 3 * time.Second, Crossing: 2 * time.Second,
	})
	s.Step(0, 0, 2, 20, reporttest.FailedOutcome())
	s.Wait(7000) // it waits for other scenarios before its objects can be removed
	s.StartStep(scenario, cleanup, reporttest.GateOn)
	s.Wait(1000)
	s.FinishStep(scenario, cleanup, reporttest.Passed)
	s.End(0, 0, reports.Verdict{})
	golden.Must(t, s.Finish())
	text, err := reports.JSON(s.Run())
	golden.Must(t, err)
	var back reports.Run
	golden.Must(t, json.Unmarshal(text, &back))
	for name, run := range map[string]*reports.Run{"recorded": s.Run(), "read back": &back} {
		got := run.Tracks[0].Scenarios[0]
		if own := got.Duration(); own != 29*time.Millisecond {
			t.Errorf("%s: the scenario took %s, want 29ms", name, own)
		}
		if all := got.Finished.Sub(got.Started); all != 5029*time.Millisecond {
			t.Errorf("%s: the scenario ended %s after it began, want 5.029s: cleaning up comes after it", name, all)
		}
		for i, want := range []time.Duration{9, 0, 20, 1000} {
			if own := got.Steps[i].Duration(); own != want*time.Millisecond {
				t.Errorf("%s: step %d took %s, want %s", name, i+1, own, want*time.Millisecond)
			}
		}
		if step := got.Steps[1]; step.Waited != reports.Seconds(3*time.Second) ||
			step.Crossing != reports.Seconds(2*time.Second) {
			t.Errorf("%s: the transition waited %d and crossed %d, want 3s and 2s", name, step.Waited, step.Crossing)
		}
	}
}

// The time of several runs is that in which at least one of them ran.
func TestDurationOfSeveralRuns(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	after := func(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }
	run := func(from, to int) reports.Part {
		return reports.Part{Prefix: "x", Run: &reports.Run{
			Head:   reports.Head{Started: after(from), Finished: after(to)},
			Tracks: []*reports.Track{{Name: "track-1"}, {Name: "track-2"}},
		}}
	}
	unfinished := run(200, 0)
	unfinished.Run.Finished = time.Time{}
	unfinished.Run.Tracks[0].Setup = []*reports.Step{{Started: after(201), Finished: after(203)}}
	for name, test := range map[string]struct {
		parts   []reports.Part
		want    time.Duration
		periods int
	}{
		"one":            {[]reports.Part{run(5, 15)}, 10 * time.Second, 1},
		"with a pause":   {[]reports.Part{run(100, 110), run(0, 10)}, 20 * time.Second, 2},
		"side by side":   {[]reports.Part{run(0, 10), run(4, 12), run(5, 6)}, 12 * time.Second, 1},
		"one unfinished": {[]reports.Part{run(0, 10), unfinished}, 13 * time.Second, 2},
	} {
		merged := reports.Merge(test.parts)
		if got := merged.Duration(); got != test.want || len(merged.Periods()) != test.periods {
			t.Errorf("%s: %s in %d periods, want %s in %d", name, got, len(merged.Periods()), test.want, test.periods)
		}
		if again := reports.Merge([]reports.Part{{Run: merged, Prefix: "y"}}); again.Duration() != test.want {
			t.Errorf("%s, merged again: %s", name, again.Duration())
		}
	}
}
