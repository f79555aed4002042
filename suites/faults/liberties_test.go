package faults

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

func free() suites.Suite {
	slow := scenario("slow", "A")
	slow.Metadata.Labels = map[string]string{suites.SlowLabel: "minutes"}
	return suites.Suite{
		Name:      "gadgets",
		Scenarios: []*scenarios.Scenario{scenario("a", "A"), scenario("b", "B"), slow},
		Liberties: []liberty.Liberty{
			{Name: "late", Sentence: "It is late."},
			{Name: "wordy", Sentence: "It says more.", About: []string{"B"}},
		},
	}
}

func TestTrials(t *testing.T) {
	for name, c := range map[string]struct {
		only []string
		want string
		err  string
	}{
		"each, and all together": {nil, "late: late, wordy: wordy, all-together: late wordy", ""},
		"one":                    {[]string{"wordy"}, "wordy: wordy", ""},
		"all together":           {[]string{AllTogether}, "all-together: late wordy", ""},
		"none of that name":      {[]string{"early"}, "", `has no liberty "early"; it has: late, wordy, all-together`},
	} {
		t.Run(name, func(t *testing.T) {
			trials, err := trialsOf(free(), c.only)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			var texts []string
			for _, trial := range trials {
				texts = append(texts, trial.Name+": "+strings.Join(trial.Liberties, " "))
			}
			if got := strings.Join(texts, ", "); err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	if _, err := trialsOf(suites.Suite{Name: "kubernetes"}, nil); err == nil {
		t.Error("a suite without a simulator has liberties")
	}
}

// A liberty about certain requirements is tried with the scenarios that cover them, and any other liberty with all
// scenarios. Slow scenarios are left out.
func TestTouched(t *testing.T) {
	for liberty, want := range map[string]string{"late": "a b", "wordy": "b"} {
		var names []string
		for _, s := range touched(free(), []string{liberty}) {
			names = append(names, s.Metadata.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %s, want %s", liberty, got, want)
		}
	}
}

// A broken cluster shows nothing about a liberty: the suite is then neither green nor red.
func TestFreedom(t *testing.T) {
	setup := []*reports.Step{{Verb: "create", Name: "1.36", Status: reports.Error, Message: "it does not start"}}
	idle := map[string][]string{"some": {"two"}, "idle": {"one", "two"}, "nothing": {"one", "two"}}
	trial := func(name string, setup []*reports.Step, list ...*reports.Scenario) Trial {
		trial := Trial{Name: name, Liberties: []string{"one", "two"}, Scenarios: len(list), Took: time.Second}
		trial.Idle = idle[name]
		trial.judge([]*reports.Track{{Name: "track-1", Setup: setup, Scenarios: list}})
		return trial
	}
	f := &Freedom{Suite: "gadgets", Took: 4 * time.Second, Trials: []Trial{
		trial("green", nil, ran("a", reports.Passed), ran("b", reports.Known)),
		trial("red", nil, ran("a", reports.Failed), ran("b", reports.Passed)),
		trial("broken", setup, ran("a", reports.NotRun)),
		trial("nothing", nil),
		trial("both", nil, ran("a", reports.Failed), ran("b", reports.Error)),
		trial("some", nil, ran("a", reports.Passed)),
		trial("idle", nil, ran("a", reports.Passed)),
	}}
	got := fmt.Sprintf("%s\nfailed: %v\nnot judged: %v\n", f, f.Err(), f.Unjudged())
	want := `LIBERTY  SCENARIOS  FAILED  NOT JUDGED  TIME
green    2          0       0           1s
red      2          1       0           1s
broken   1          0       2           1s
nothing  0          0       1           1s
both     2          1       1           1s
some     1          0       0           1s
idle     1          0       1           1s

with some, no effect of: two

with idle, no effect of: one, two

gadgets: passed under 2 of 7 liberties; 4s

failed: the specification allows liberty red, but the suite failed with it: a is failed
the specification allows liberty both, but the suite failed with it: a is failed
not judged: the suite could not be judged with liberty broken: ` +
		`create of track-1 (1.36): it does not start; a is notRun
the suite could not be judged with liberty nothing: no selected scenario covers a requirement that it is about
the suite could not be judged with liberty both: b is error
the suite could not be judged with liberty idle: it took effect in no scenario
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if green := (&Freedom{Trials: f.Trials[:1]}); green.Err() != nil || green.Unjudged() != nil {
		t.Error(green.Err(), green.Unjudged())
	}
}

// A liberty without a scenario is not green, although nothing failed with it.
func TestALibertyWithoutScenarios(t *testing.T) {
	suite := free()
	suite.Liberties = []liberty.Liberty{{Name: "lost", About: []string{"C"}}}
	trials := []Trial{{Name: "lost", Liberties: []string{"lost"}}}
	o := Options{Suite: suite}
	o.fill()
	golden.Must(t, (runner{Options: o}).try(t.Context(), trials, liberty.Notes(filepath.Join(t.TempDir(), "none"))))
	f := &Freedom{Suite: "gadgets", Trials: trials}
	if err := f.Unjudged(); err == nil || f.Err() != nil || !strings.Contains(f.String(), "passed under 0 of 1 liberties") {
		t.Errorf("not judged: %v\n%s", err, f)
	}
}

// If trials share a run, each trial has only its own scenarios, and the tracks on which they ran. A trial that lacks
// some of its scenarios has no verdict.
func TestTrialsShareARun(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	setup := func(from, to int) []*reports.Step {
		return []*reports.Step{
			{Verb: "create", Started: at(from), Finished: at(from + 1)}, {Verb: "delete", Started: at(to - 1), Finished: at(to)},
		}
	}
	named := func(trial int, name string) *reports.Scenario {
		return &reports.Scenario{Name: markOfTrial(trial) + separator + name, Status: reports.Passed}
	}
	run := &reports.Run{Tracks: []*reports.Track{
		{Name: "shared", Setup: setup(0, 9), Scenarios: []*reports.Scenario{named(0, "a"), named(1, "a")}},
		{Name: "own", Setup: setup(5, 20), Scenarios: []*reports.Scenario{named(1, "b")}},
		{Name: "another's", Setup: setup(1, 60), Scenarios: []*reports.Scenario{named(10, "b")}},
	}}
	for i, want := range []string{"a; 9s; []", "a b; 20s; []", "; 0s; [2 of 2 scenarios were skipped]"} {
		tracks := tracksOf(run, markOfTrial(i))
		var names []string
		for _, track := range tracks {
			for _, s := range track.Scenarios {
				names = append(names, original(s.Name))
			}
		}
		trial := Trial{Scenarios: max(len(names), 2*i-2)}
		trial.judge(tracks)
		if got := fmt.Sprintf("%s; %s; %v", strings.Join(names, " "), timeOf(tracks), trial.Unjudged); got != want {
			t.Errorf("trial %d: %s, want %s", i, got, want)
		}
	}
}
