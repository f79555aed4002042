package reports_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// tape keeps the events.
type tape struct {
	events []reports.Event
	err    error
}

func (t *tape) Observe(e reports.Event) error {
	t.events = append(t.events, e)
	return t.err
}

func TestEventsInOrder(t *testing.T) {
	tape := &tape{}
	reporttest.Told(t, reporttest.Stories()[1], tape)
	var got []string
	for _, e := range tape.events {
		line := string(e.Kind)
		if e.Track != nil {
			line += " " + e.Track.Name
		}
		if e.Scenario != nil {
			line += " " + e.Scenario.Name
		}
		if e.Step != nil {
			line += " " + e.Step.Verb + " " + string(e.Step.Status)
		}
		got = append(got, line)
	}
	golden.Check(t, "testdata/events-failed.txt", strings.Join(got, "\n")+"\n")
}

// An observer may keep the run of an event: no later event changes it. No event changes the plan.
func TestEventsStayAsTheyAre(t *testing.T) {
	for _, st := range reporttest.Stories() {
		var seen []string
		var runs []*reports.Run
		watcher := observe(func(e reports.Event) {
			text, err := reports.JSON(e.Run)
			golden.Must(t, err)
			seen, runs = append(seen, string(text)), append(runs, e.Run)
		})
		reporttest.Told(t, st, watcher)
		for i, run := range runs {
			if text, _ := reports.JSON(run); string(text) != seen[i] {
				t.Errorf("%s: the run of event %d changed afterwards", st.Name, i)
			}
			if i > 0 && seen[i] == seen[i-1] {
				t.Errorf("%s: event %d changed nothing in the run", st.Name, i)
			}
		}
	}
	mine, fresh := reporttest.Plan(), reporttest.Plan()
	s := reporttest.NewStage(mine)
	reporttest.Stories()[1].Play(s)
	golden.Must(t, s.Finish())
	if !reflect.DeepEqual(mine, fresh) {
		t.Error("the plan was changed")
	}
}

type observe func(reports.Event)

func (o observe) Observe(e reports.Event) error {
	o(e)
	return nil
}

// Mistakes of the program never panic, never improve a status, and are reported at the end.
func TestMistakes(t *testing.T) {
	failed := reporttest.FailedOutcome()
	for _, c := range []struct {
		name    string
		play    func(*reporttest.Stage)
		want    string
		status  reports.Status
		message string
	}{
		{"step finished twice", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.Step(1, 0, 0, 1, failed)
			s.FinishStep(s.Scenario(1, 0), s.Scenario(1, 0).Steps[0], reporttest.Passed)
			s.End(1, 0, reports.Verdict{})
		}, `step "is there" of scenario "no-system" was finished twice`, reports.Failed, "is there: create Service 9-web"},
		{"step started twice", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.Step(1, 0, 0, 1, failed)
			s.StartStep(s.Scenario(1, 0), s.Scenario(1, 0).Steps[0], "")
			s.End(1, 0, reports.Verdict{})
		}, "was started twice", reports.Failed, ""},
		{"step never started", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.FinishStep(s.Scenario(1, 0), s.Scenario(1, 0).Steps[0], reporttest.Passed)
			s.End(1, 0, reports.Verdict{})
		}, "was never started", reports.NotRun, ""},
		{"step without a status", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.Step(1, 0, 0, 1, reports.Outcome{})
			s.End(1, 0, reports.Verdict{})
		}, `with the status ""`, reports.Error, ""},
		{"attempt of a step that is not running", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.AttemptStep(s.Scenario(1, 0), s.Scenario(1, 0).Steps[0], "rejected")
			s.Step(1, 0, 0, 1, reporttest.Passed)
			s.End(1, 0, reports.Verdict{})
		}, "which is not running", reports.Passed, ""},
		{"scenario never started", func(s *reporttest.Stage) {
			s.Step(1, 0, 0, 1, reporttest.Passed)
			s.End(1, 0, reports.Verdict{})
		}, "scenario was never started", reports.Passed, ""},
		{"scenario started twice", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.Begin(1, 0)
			s.Step(1, 0, 0, 1, reporttest.Passed)
			s.End(1, 0, reports.Verdict{})
		}, `scenario "no-system" was started twice`, reports.Passed, ""},
		{"scenario finished twice", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.End(1, 0, reports.Verdict{})
			s.End(1, 0, reports.Verdict{Status: reports.Passed})
		}, `scenario "no-system" was finished twice`, reports.NotRun, ""},
		{"step of a finished scenario", func(s *reporttest.Stage) {
			s.Begin(1, 0)
			s.End(1, 0, reports.Verdict{})
			s.Step(1, 0, 0, 1, reporttest.Passed)
		}, "whose scenario had finished", reports.NotRun, ""},
		{"somebody else's scenario", func(s *reporttest.Stage) {
			s.StartScenario(&reports.Scenario{Name: "stranger"}, "")
		}, `scenario "stranger", which is not of the plan`, reports.NotRun, "never started"},
		{"somebody else's track", func(s *reporttest.Stage) {
			s.StartTrackStep(&reports.Track{Name: "stranger"}, &reports.Step{Verb: "create"})
		}, `of track "stranger", which is not of the plan`, reports.NotRun, ""},
		{"nothing", func(s *reporttest.Stage) {
			s.StartScenario(nil, "")
			s.FinishScenario(nil, reports.Verdict{})
			s.StartStep(nil, nil, "")
			s.StartStep(nil, &reports.Step{}, "")
			s.FinishTrackStep(nil, &reports.Step{}, reporttest.Passed)
		}, "that is nil", reports.NotRun, ""},
		{"after the end", func(s *reporttest.Stage) {
			_ = s.Finish()
			s.Begin(1, 0)
			s.Step(1, 0, 0, 1, reporttest.Passed)
			s.End(1, 0, reports.Verdict{Status: reports.Passed})
			s.Interrupt()
		}, "after the run had finished", reports.NotRun, ""},
		{"started twice", func(s *reporttest.Stage) {
			_ = s.Start()
			_ = s.Start()
		}, "the run was started twice", reports.NotRun, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reporttest.NewStage(reporttest.Plan())
			c.play(s)
			err := s.Finish()
			golden.Error(t, err, c.want)
			got := s.Run().Tracks[1].Scenarios[0]
			if got.Status != c.status || !strings.Contains(got.Message, c.message) {
				t.Errorf("%s %q, want %s %q", got.Status, got.Message, c.status, c.message)
			}
			if s.Run().Interrupted {
				t.Error("interrupted after its end")
			}
		})
	}
}

// In an interrupted run, what failed stays failed, and what did not end is notRun.
func TestUnfinished(t *testing.T) {
	s := reporttest.NewStage(reporttest.Plan())
	s.Begin(0, 0)
	s.Step(0, 0, 0, 1, reporttest.FailedOutcome())
	s.Begin(0, 1)
	s.Step(0, 1, 0, 1, reporttest.Passed)
	s.StartStep(s.Scenario(0, 1), s.Scenario(0, 1).Steps[1], "")
	s.Begin(1, 0)
	s.Step(1, 0, 0, 1, reporttest.Passed)
	s.Interrupt()
	s.Wait(100)
	golden.Must(t, s.Finish())
	run := s.Run()
	for _, c := range []struct {
		scenario *reports.Scenario
		status   reports.Status
		message  string
	}{
		{run.Tracks[0].Scenarios[0], reports.Failed, "the old rule rejects a leading digit: create Service 9-web was " +
			"rejected, but should be accepted"},
		{run.Tracks[0].Scenarios[1], reports.NotRun, "interrupted in step 2 of 3: upgrade, gate on, after 101ms"},
		// All its steps passed, but the scenario was not finished: assertions that span its steps may still have failed.
		{run.Tracks[1].Scenarios[0], reports.NotRun, "interrupted"},
	} {
		if c.scenario.Status != c.status || c.scenario.Message != c.message {
			t.Errorf("%s: %s %q, want %s %q", c.scenario.Name, c.scenario.Status, c.scenario.Message, c.status, c.message)
		}
	}
	if step := run.Tracks[0].Scenarios[1].Steps[1]; step.Status != reports.NotRun ||
		step.Duration() != 101*time.Millisecond {
		t.Errorf("the running step is %s after %s, want notRun after 101ms", step.Status, step.Duration())
	}
}

func TestStepsThatWereNotPlanned(t *testing.T) {
	s := reporttest.NewStage(reporttest.Plan())
	collect, cleanup := &reports.Step{Verb: "collect"}, &reports.Step{Name: "cleanup", Verb: "delete"}
	s.StartTrackStep(s.Track(1), collect)
	s.FinishTrackStep(s.Track(1), collect, reporttest.Passed)
	s.Begin(1, 0)
	s.Step(1, 0, 0, 1, reporttest.Passed)
	s.StartStep(s.Scenario(1, 0), cleanup, "")
	s.FinishStep(s.Scenario(1, 0), cleanup, reports.Outcome{Status: reports.Error, Message: "Pod/a would not go"})
	s.End(1, 0, reports.Verdict{})
	golden.Must(t, s.Finish())
	track := s.Run().Tracks[1]
	if n := len(track.Setup); n != 2 || track.Setup[1].Status != reports.Passed {
		t.Errorf("setup has %d steps, want the planned one and one more that passed", n)
	}
	scenario := track.Scenarios[0]
	if len(scenario.Steps) != 2 || scenario.Status != reports.Error || scenario.Message != "cleanup: Pod/a would not go" {
		t.Errorf("%d steps, %s %q", len(scenario.Steps), scenario.Status, scenario.Message)
	}
}

func TestObserversErrors(t *testing.T) {
	full := errors.New("the disk is full")
	s := reporttest.NewStage(reporttest.Plan(), &tape{err: full})
	if err := s.Start(); !errors.Is(err, full) {
		t.Errorf("Start returns %v", err)
	}
	s.Begin(1, 0)
	if err := s.Finish(); !errors.Is(err, full) || strings.Count(err.Error(), "full") != 1 {
		t.Errorf("Finish returns %v, want the error once", err)
	}
}

// Concurrent use causes no data race (with the race detector), and no result is lost.
func TestConcurrentUse(t *testing.T) {
	const tracks, scenarios, steps = 4, 25, 6
	run := &reports.Run{Provider: "local"}
	for i := range tracks {
		track := &reports.Track{Name: fmt.Sprintf("track-%d", i), Setup: []*reports.Step{{Verb: "create"}}}
		for j := range scenarios {
			scenario := &reports.Scenario{Name: fmt.Sprintf("s-%d-%d", i, j)}
			for range steps {
				scenario.Steps = append(scenario.Steps, &reports.Step{Verb: "create"})
			}
			track.Scenarios = append(track.Scenarios, scenario)
		}
		run.Tracks = append(run.Tracks, track)
	}
	clk := clock.RealClock{}
	files := reports.NewFiles(t.TempDir(), clk, reports.FileFormat{File: "junit.xml", Encode: reports.JUnit},
		reports.FileFormat{File: "run.json", Encode: reports.JSON})
	shown := terminal.New(terminal.Config{
		Out: io.Discard, TTY: true, Unicode: true, Color: true,
		Clock: clk,
	})
	r := reports.NewRecorder(run, clk, files, shown)
	golden.Must(t, r.Start())
	var all sync.WaitGroup
	for _, track := range run.Tracks {
		r.StartTrackStep(track, track.Setup[0])
		shown.Progress("starting %s", track.Name)
		r.FinishTrackStep(track, track.Setup[0], reporttest.Passed)
		for j, scenario := range track.Scenarios {
			all.Go(func() {
				r.StartScenario(scenario, "ns")
				for _, step := range scenario.Steps {
					r.StartStep(scenario, step, "")
					r.AttemptStep(scenario, step, "again")
					outcome := reporttest.Passed
					if j == 0 {
						outcome = reporttest.FailedOutcome()
					}
					r.FinishStep(scenario, step, outcome)
				}
				_ = reports.Count(r.Run())
				r.FinishScenario(scenario, reports.Verdict{})
			})
		}
	}
	all.Wait()
	golden.Must(t, r.Finish())
	if got, want := reports.Count(r.Run()),
		(reports.Counts{Passed: tracks * (scenarios - 1), Failed: tracks}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
