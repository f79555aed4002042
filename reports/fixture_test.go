package reports_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	clocktesting "k8s.io/utils/clock/testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs (go test -update writes it anew); got:\n%s", path, got)
	}
}

var began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

const (
	gateOff = "1.34.4 RelaxedServiceNameValidation=false"
	gateOn  = "1.35.4 RelaxedServiceNameValidation=true"
)

// plan is two scenarios on a path, and one of another system on a cluster of its own.
func plan() *reports.Run {
	steps := func(line int) []*reports.Step {
		at := func(l int) string { return fmt.Sprintf("scenarios/kubernetes/kep-5311.yaml:%d:9", line+l) }
		return []*reports.Step{
			{Name: "the old rule refuses a leading digit", Verb: "create", Position: at(10)},
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
				Name: "track-1", Path: []string{gateOff, gateOn},
				Setup: []*reports.Step{
					{Name: gateOff, Verb: "create", Change: "1.34.4, RelaxedServiceNameValidation off"},
					{
						Name: gateOn, Verb: "transition", Direction: "up", Change: "1.34.4 → 1.35.4, RelaxedServiceNameValidation on",
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

// stage plays a plan to a recorder on a clock of its own.
type stage struct {
	*reports.Recorder
	plan  *reports.Run
	clock *clocktesting.FakeClock
}

func newStage(plan *reports.Run, observers ...reports.Observer) *stage {
	clk := clocktesting.NewFakeClock(began)
	return &stage{Recorder: reports.NewRecorder(plan, clk, observers...), plan: plan, clock: clk}
}

func (s *stage) track(t int) *reports.Track          { return s.plan.Tracks[t] }
func (s *stage) scenario(t, i int) *reports.Scenario { return s.plan.Tracks[t].Scenarios[i] }
func (s *stage) wait(milliseconds int)               { s.clock.Step(time.Duration(milliseconds) * time.Millisecond) }

func (s *stage) begin(t, i int) {
	s.StartScenario(s.scenario(t, i), fmt.Sprintf("rehearse-%d-%d", t, i))
}
func (s *stage) end(t, i int, v reports.Verdict) { s.FinishScenario(s.scenario(t, i), v) }
func (s *stage) setup(t, i, ms int, o reports.Outcome) {
	s.StartTrackStep(s.track(t), s.track(t).Setup[i])
	s.wait(ms)
	s.FinishTrackStep(s.track(t), s.track(t).Setup[i], o)
}

func (s *stage) step(t, i, n, ms int, o reports.Outcome) {
	scenario := s.scenario(t, i)
	state := ""
	if path := s.track(t).Path; len(path) > 0 {
		state = path[min(n/2, len(path)-1)]
	}
	s.StartStep(scenario, scenario.Steps[n], state)
	s.wait(ms)
	s.FinishStep(scenario, scenario.Steps[n], o)
}

var passed = reports.Outcome{Status: reports.Passed}

func failedOutcome() reports.Outcome {
	return reports.Outcome{
		Status:   reports.Failed,
		Message:  "create Service 9-web was rejected, but should be accepted\nwant: accepted\ngot:  422 Invalid",
		Evidence: "kind: Status\nreason: Invalid",
	}
}

// story is a run to report, by what happens in it. Where it does not say more, track-2 passed.
type story struct {
	name string
	code int
	play func(*stage)
}

// firstTrack plays track-1 up to its last steps; the scenarios' last steps are the story's.
func (s *stage) firstTrack() {
	s.setup(0, 0, 1900, passed)
	s.begin(0, 0)
	s.begin(0, 1)
	s.step(0, 0, 0, 12, passed)
	s.step(0, 1, 0, 8, passed)
	for i := range 2 {
		s.StartStep(s.scenario(0, i), s.scenario(0, i).Steps[1], gateOff)
	}
	s.setup(0, 1, 2400, passed)
	for i := range 2 {
		s.FinishStep(s.scenario(0, i), s.scenario(0, i).Steps[1], crossed(8*(1-i), 2400))
	}
	s.step(0, 0, 2, 5, passed)
	s.end(0, 0, reports.Verdict{})
}

// crossed is the outcome of a transition, by how long it waited and how long the transition took.
func crossed(waited, crossing int) reports.Outcome {
	return reports.Outcome{
		Status: reports.Passed,
		Waited: time.Duration(waited) * time.Millisecond, Crossing: time.Duration(crossing) * time.Millisecond,
	}
}

func (s *stage) secondTrack() {
	s.setup(1, 0, 1000, passed)
	s.begin(1, 0)
	s.step(1, 0, 0, 30, passed)
	s.end(1, 0, reports.Verdict{})
}

func stories() []story {
	return []story{
		{"passed", 0, func(s *stage) {
			s.firstTrack()
			s.step(0, 1, 2, 7, passed)
			s.end(0, 1, reports.Verdict{})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"failed", 1, func(s *stage) {
			s.firstTrack()
			last := s.scenario(0, 1)
			s.StartStep(last, last.Steps[2], gateOn)
			s.wait(100)
			s.AttemptStep(last, last.Steps[2], "connection refused\nby 127.0.0.1")
			s.wait(250)
			s.FinishStep(last, last.Steps[2], failedOutcome())
			s.end(0, 1, reports.Verdict{
				Artifacts: []string{"ingress/events.txt", "ingress/kube-apiserver.log"}, Folder: "rehearse-report/ingress",
			})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"error", 3, func(s *stage) {
			s.firstTrack()
			s.step(0, 1, 2, 30000, reports.Outcome{Status: reports.Error, Message: "the API server could not be reached for " +
				"30s: connection refused"})
			s.end(0, 1, reports.Verdict{})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"known", 0, func(s *stage) {
			s.firstTrack()
			s.step(0, 1, 2, 9, failedOutcome())
			s.end(0, 1, reports.Verdict{Status: reports.Known, KnownIssue: "1.34.4 refuses any update of it " +
				"(https://example.com/1)"})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"several", 1, func(s *stage) {
			s.firstTrack()
			last := s.scenario(0, 1)
			s.step(0, 1, 2, 7, failedOutcome())
			resolve := &reports.Step{Name: "it resolves", Verb: "resolve", Position: "scenarios/kubernetes/kep-5311.yaml:70:9"}
			s.StartStep(last, resolve, gateOn)
			s.wait(12)
			s.FinishStep(last, resolve, reports.Outcome{Status: reports.Failed, Message: "wanted 1 address, got none"})
			s.end(0, 1, reports.Verdict{})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"noted", 0, func(s *stage) {
			s.firstTrack()
			s.step(0, 1, 2, 7, reports.Outcome{
				Status: reports.Passed, Message: "held: 23 states of 4 pods, 10s",
				Note: "changes of pods may have been missed for 1.2s: the watch broke when kube-apiserver stopped",
			})
			s.end(0, 1, reports.Verdict{})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"cluster-broke", 3, func(s *stage) {
			s.setup(0, 0, 1900, passed)
			s.begin(0, 0)
			s.begin(0, 1)
			for i := range 2 {
				s.step(0, i, 0, 12, reports.Outcome{
					Status:  reports.Error,
					Message: "the cluster broke: kube-apiserver ended, with exit code 2\nits last lines:\n  panic: nil map",
				})
			}
			s.end(0, 0, reports.Verdict{})
			s.end(0, 1, reports.Verdict{})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
		{"interrupted", 130, func(s *stage) {
			s.StartTrackStep(s.track(0), s.track(0).Setup[0])
			s.wait(400)
			s.Interrupt()
			s.FinishTrackStep(s.track(0), s.track(0).Setup[0], reports.Outcome{
				Status:  reports.NotRun,
				Message: "interrupted: create cluster x: wait for kube-apiserver: interrupt signal received",
			})
		}},
		{"setup-failed", 3, func(s *stage) {
			s.setup(0, 0, 700, reports.Outcome{
				Status: reports.Error,
				Message: "kube-apiserver 1.34.4 ended while starting, with exit code 1\nits last lines:\n  unknown feature " +
					"gate: Relaxed",
			})
			s.secondTrack()
		}},
		{"transition-failed", 1, func(s *stage) {
			s.setup(0, 0, 1900, passed)
			s.begin(0, 0)
			s.begin(0, 1)
			s.step(0, 0, 0, 12, passed)
			s.step(0, 1, 0, 8, failedOutcome())
			s.end(0, 1, reports.Verdict{})
			s.StartStep(s.scenario(0, 0), s.scenario(0, 0).Steps[1], gateOff)
			s.setup(0, 1, 5000, reports.Outcome{Status: reports.Failed, Message: "kube-apiserver 1.35.4 does not start"})
			s.FinishStep(s.scenario(0, 0), s.scenario(0, 0).Steps[1], reports.Outcome{
				Status: reports.Error, Message: "transition to " + gateOn + ": kube-apiserver 1.35.4 does not start",
				Crossing: 5 * time.Second,
			})
			s.end(0, 0, reports.Verdict{})
			s.setup(0, 2, 100, passed)
		}},
		{"control-characters", 1, func(s *stage) {
			s.firstTrack()
			s.step(0, 1, 2, 9, reports.Outcome{
				Status:   reports.Failed,
				Message:  "\x1b[31mred\x1b[0m \x00nul \x08bell\x07 \x9b c1 \xff\xfe bytes \uFFFE \U0001F600 <&>]]> \ttab\r\nnext",
				Evidence: "\x1b]0;title\x07plain",
			})
			s.end(0, 1, reports.Verdict{})
			s.setup(0, 2, 300, passed)
			s.secondTrack()
		}},
	}
}

// told plays a story to its end.
func told(t *testing.T, st story, observers ...reports.Observer) *reports.Run {
	t.Helper()
	s := newStage(plan(), observers...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	st.play(s)
	s.wait(50)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	return s.Run()
}
