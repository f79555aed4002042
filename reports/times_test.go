package reports_test

import (
	"encoding/json"
	"testing"
	"time"

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
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	text, err := reports.JSON(s.Run())
	if err != nil {
		t.Fatal(err)
	}
	var back reports.Run
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
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
