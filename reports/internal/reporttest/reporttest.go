// Package reporttest replays runs to reports, for their tests.
package reporttest

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/reports"
)

// Began is the start of all runs.
var Began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// The states of track-1.
const (
	GateOff = "1.34.4 RelaxedServiceNameValidation=false"
	GateOn  = "1.35.4 RelaxedServiceNameValidation=true"
)

// Plan returns a run with two scenarios on one path, and one of another system on its own cluster.
func Plan() *reports.Run {
	steps := func(line int) []*reports.Step {
		at := func(l int) string { return fmt.Sprintf("scenarios/kubernetes/kep-5311.yaml:%d:9", line+l) }
		return []*reports.Step{
			{Name: "the old rule rejects a leading digit", Verb: "create", Position: at(10)},
			{Name: "upgrade, gate on", Verb: "transition", Position: at(20)},
			{Verb: "create", Position: at(22)},
		}
	}
	scenario := func(name string, line int, covers ...string) *reports.Scenario {
		return &reports.Scenario{
			Name: name, System: "kubernetes", File: "scenarios/kubernetes/kep-5311.yaml", Line: line, Covers: covers,
			Versions: []string{"1.34.4", "1.35.4"}, Gates: []string{"RelaxedServiceNameValidation"}, Steps: steps(line),
		}
	}
	return &reports.Run{
		Provider: "local",
		Tracks: []*reports.Track{
			{
				Name: "track-1", Path: []string{GateOff, GateOn},
				Setup: []*reports.Step{
					{Name: GateOff, Verb: "create", Change: "1.34.4, RelaxedServiceNameValidation off"},
					{
						Name: GateOn, Verb: "transition", Direction: "up", Change: "1.34.4 → 1.35.4, RelaxedServiceNameValidation on",
						Called: []string{"upgrade, gate on"},
					},
					{Name: "cluster", Verb: "delete"},
				},
				Scenarios: []*reports.Scenario{
					scenario("service-name-outlives-its-gate", 1, "KEP5311-S1", "KEP5311-S3"),
					scenario("ingress-backend-outlives-its-gate [digit]", 40, "KEP5311-S9"),
				},
			},
			{
				Name: "track-2", Path: []string{"1.36.0"}, Setup: []*reports.Step{{Name: "1.36.0", Verb: "create"}},
				Scenarios: []*reports.Scenario{{
					Name: "no-system", File: "own.yaml", Line: 3, Steps: []*reports.Step{{Name: "is there", Verb: "eventually"}},
				}},
			},
		},
	}
}

// Stage plays a plan to a recorder, with its own clock.
type Stage struct {
	*reports.Recorder
	Plan  *reports.Run
	Clock *clocktesting.FakeClock
}

// NewStage returns a stage that plays a plan to observers.
func NewStage(plan *reports.Run, observers ...reports.Observer) *Stage {
	clk := clocktesting.NewFakeClock(Began)
	return &Stage{Recorder: reports.NewRecorder(plan, clk, observers...), Plan: plan, Clock: clk}
}

// Track returns a track by its number.
func (s *Stage) Track(t int) *reports.Track { return s.Plan.Tracks[t] }

// Scenario returns a scenario by its track's number and its own.
func (s *Stage) Scenario(t, i int) *reports.Scenario { return s.Plan.Tracks[t].Scenarios[i] }

// Wait lets time pass.
func (s *Stage) Wait(milliseconds int) { s.Clock.Step(time.Duration(milliseconds) * time.Millisecond) }

// Begin starts a scenario.
func (s *Stage) Begin(t, i int) {
	s.StartScenario(s.Scenario(t, i), fmt.Sprintf("rehearse-%d-%d", t, i))
}

// End finishes a scenario.
func (s *Stage) End(t, i int, v reports.Verdict) { s.FinishScenario(s.Scenario(t, i), v) }

// Setup plays a setup step of a track.
func (s *Stage) Setup(t, i, ms int, o reports.Outcome) {
	s.StartTrackStep(s.Track(t), s.Track(t).Setup[i])
	s.Wait(ms)
	s.FinishTrackStep(s.Track(t), s.Track(t).Setup[i], o)
}

// Step plays a step of a scenario.
func (s *Stage) Step(t, i, n, ms int, o reports.Outcome) {
	scenario := s.Scenario(t, i)
	state := ""
	if path := s.Track(t).Path; len(path) > 0 {
		state = path[min(n/2, len(path)-1)]
	}
	s.StartStep(scenario, scenario.Steps[n], state)
	s.Wait(ms)
	s.FinishStep(scenario, scenario.Steps[n], o)
}

// Passed is the outcome of a step that passed.
var Passed = reports.Outcome{Status: reports.Passed}

// FailedOutcome returns the outcome of a step that failed.
func FailedOutcome() reports.Outcome {
	return reports.Outcome{
		Status:   reports.Failed,
		Message:  "create Service 9-web was rejected, but should be accepted\nwant: accepted\ngot:  422 Invalid",
		Evidence: "kind: Status\nreason: Invalid",
	}
}

// Story is a run to report, given by what happens in it. By default, track-2 passes.
type Story struct {
	Name string
	// Code is the exit code of the run.
	Code int
	Play func(*Stage)
}

// FirstTrack plays track-1, except the last step of the second scenario, which the story plays.
func (s *Stage) FirstTrack() {
	s.Setup(0, 0, 1900, Passed)
	s.Begin(0, 0)
	s.Begin(0, 1)
	s.Step(0, 0, 0, 12, Passed)
	s.Step(0, 1, 0, 8, Passed)
	for i := range 2 {
		s.StartStep(s.Scenario(0, i), s.Scenario(0, i).Steps[1], GateOff)
	}
	s.Setup(0, 1, 2400, Passed)
	for i := range 2 {
		s.FinishStep(s.Scenario(0, i), s.Scenario(0, i).Steps[1], Crossed(8*(1-i), 2400))
	}
	s.Step(0, 0, 2, 5, Passed)
	s.End(0, 0, reports.Verdict{})
}

// Crossed returns the outcome of a transition, from how long it waited and how long the transition took.
func Crossed(waited, crossing int) reports.Outcome {
	return reports.Outcome{
		Status: reports.Passed,
		Waited: time.Duration(waited) * time.Millisecond, Crossing: time.Duration(crossing) * time.Millisecond,
	}
}

// SecondTrack plays track-2, which passes.
func (s *Stage) SecondTrack() {
	s.Setup(1, 0, 1000, Passed)
	s.Begin(1, 0)
	s.Step(1, 0, 0, 30, Passed)
	s.End(1, 0, reports.Verdict{})
}

// Stories returns the runs with which each report is tested.
func Stories() []Story {
	return []Story{
		{"passed", 0, func(s *Stage) {
			s.FirstTrack()
			s.Step(0, 1, 2, 7, Passed)
			s.End(0, 1, reports.Verdict{})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"failed", 1, func(s *Stage) {
			s.FirstTrack()
			last := s.Scenario(0, 1)
			s.StartStep(last, last.Steps[2], GateOn)
			s.Wait(100)
			s.AttemptStep(last, last.Steps[2], "connection refused\nby 127.0.0.1")
			s.Wait(250)
			s.FinishStep(last, last.Steps[2], FailedOutcome())
			s.End(0, 1, reports.Verdict{
				Artifacts: []string{"ingress/events.txt", "ingress/kube-apiserver.log"}, Folder: "rehearse-report/ingress",
			})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"error", 3, func(s *Stage) {
			s.FirstTrack()
			s.Step(0, 1, 2, 30000, reports.Outcome{Status: reports.Error, Message: "the API server could not be reached for " +
				"30s: connection refused"})
			s.End(0, 1, reports.Verdict{})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"known", 0, func(s *Stage) {
			s.FirstTrack()
			s.Step(0, 1, 2, 9, FailedOutcome())
			s.End(0, 1, reports.Verdict{Status: reports.Known, KnownIssue: "1.34.4 rejects any update of it " +
				"(https://example.com/1)"})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"several", 1, func(s *Stage) {
			s.FirstTrack()
			last := s.Scenario(0, 1)
			s.Step(0, 1, 2, 7, FailedOutcome())
			resolve := &reports.Step{Name: "it resolves", Verb: "resolve", Position: "scenarios/kubernetes/kep-5311.yaml:70:9"}
			s.StartStep(last, resolve, GateOn)
			s.Wait(12)
			s.FinishStep(last, resolve, reports.Outcome{Status: reports.Failed, Message: "wanted 1 address, got none"})
			s.End(0, 1, reports.Verdict{})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"noted", 0, func(s *Stage) {
			s.FirstTrack()
			s.Step(0, 1, 2, 7, reports.Outcome{
				Status: reports.Passed, Message: "held: 23 states of 4 pods, 10s",
				Note: "changes of pods may have been missed for 1.2s: the watch broke when kube-apiserver stopped",
			})
			s.End(0, 1, reports.Verdict{})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"cluster-broke", 3, func(s *Stage) {
			s.Setup(0, 0, 1900, Passed)
			s.Begin(0, 0)
			s.Begin(0, 1)
			for i := range 2 {
				s.Step(0, i, 0, 12, reports.Outcome{
					Status:  reports.Error,
					Message: "the cluster broke: kube-apiserver ended, with exit code 2\nits last lines:\n  panic: nil map",
				})
			}
			s.End(0, 0, reports.Verdict{})
			s.End(0, 1, reports.Verdict{})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
		{"interrupted", 130, func(s *Stage) {
			s.StartTrackStep(s.Track(0), s.Track(0).Setup[0])
			s.Wait(400)
			s.Interrupt()
			s.FinishTrackStep(s.Track(0), s.Track(0).Setup[0], reports.Outcome{
				Status:  reports.NotRun,
				Message: "interrupted: create cluster x: wait for kube-apiserver: interrupt signal received",
			})
		}},
		{"setup-failed", 3, func(s *Stage) {
			s.Setup(0, 0, 700, reports.Outcome{
				Status: reports.Error,
				Message: "kube-apiserver 1.34.4 ended while starting, with exit code 1\nits last lines:\n  unknown feature " +
					"gate: Relaxed",
			})
			s.SecondTrack()
		}},
		{"transition-failed", 1, func(s *Stage) {
			s.Setup(0, 0, 1900, Passed)
			s.Begin(0, 0)
			s.Begin(0, 1)
			s.Step(0, 0, 0, 12, Passed)
			s.Step(0, 1, 0, 8, FailedOutcome())
			s.End(0, 1, reports.Verdict{})
			s.StartStep(s.Scenario(0, 0), s.Scenario(0, 0).Steps[1], GateOff)
			s.Setup(0, 1, 5000, reports.Outcome{Status: reports.Failed, Message: "kube-apiserver 1.35.4 does not start"})
			s.FinishStep(s.Scenario(0, 0), s.Scenario(0, 0).Steps[1], reports.Outcome{
				Status: reports.Error, Message: "transition to " + GateOn + ": kube-apiserver 1.35.4 does not start",
				Crossing: 5 * time.Second,
			})
			s.End(0, 0, reports.Verdict{})
			s.Setup(0, 2, 100, Passed)
		}},
		{"control-characters", 1, func(s *Stage) {
			s.FirstTrack()
			s.Step(0, 1, 2, 9, reports.Outcome{
				Status:   reports.Failed,
				Message:  "\x1b[31mred\x1b[0m \x00nul \x08bell\x07 \x9b c1 \xff\xfe bytes \uFFFE \U0001F600 <&>]]> \ttab\r\nnext",
				Evidence: "\x1b]0;title\x07plain",
			})
			s.End(0, 1, reports.Verdict{})
			s.Setup(0, 2, 300, Passed)
			s.SecondTrack()
		}},
	}
}

// Told plays a story to its end.
func Told(t *testing.T, st Story, observers ...reports.Observer) *reports.Run {
	t.Helper()
	s := NewStage(Plan(), observers...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	st.Play(s)
	s.Wait(50)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	return s.Run()
}
