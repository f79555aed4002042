package reports_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// What all scenarios of a track share (waiting for each other, and the transition) is no time of any of them.
func TestOwnTimes(t *testing.T) {
	s := newStage(plan())
	scenario := s.scenario(0, 0)
	cleanup := &reports.Step{Verb: reports.Cleanup}
	s.begin(0, 0)
	s.step(0, 0, 0, 9, passed)
	s.StartStep(scenario, scenario.Steps[1], gateOff)
	s.wait(5000)
	s.FinishStep(scenario, scenario.Steps[1], reports.Outcome{
		Status: reports.Passed, Waited: 3 * time.Second, Crossing: 2 * time.Second,
	})
	s.step(0, 0, 2, 20, failedOutcome())
	s.wait(7000) // others are waited for, so that what it made can be removed
	s.StartStep(scenario, cleanup, gateOn)
	s.wait(1000)
	s.FinishStep(scenario, cleanup, passed)
	s.end(0, 0, reports.Verdict{})
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
