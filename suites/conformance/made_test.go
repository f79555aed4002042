package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

// The report of a run is made only with the plan of the run: otherwise it would show states that did not run.
func TestMade(t *testing.T) {
	of := func(title string, change func(*reports.Run, *reports.Track, *reports.Scenario)) func(*reports.Run) {
		return func(run *reports.Run) {
			for _, track := range run.Tracks {
				for _, s := range track.Scenarios {
					if s.Name == title {
						change(run, track, s)
					}
				}
			}
		}
	}
	crd := Options{Profile: "crd"}
	for name, c := range map[string]struct {
		made, judged Options
		change       func(*reports.Run)
		want         string
	}{
		"the same plan":    {},
		"the same profile": {crd, crd, nil, ""},
		"another version": {
			change: of("upgrade", func(_ *reports.Run, track *reports.Track, _ *reports.Scenario) {
				track.Path = append([]string{"1.36.9"}, track.Path[1:]...)
			}),
			want: "scenario upgrade went through 1.36.9 -> 1.36.0 gadgets(simulated, variant webhook), but these flags plan " +
				"1.36.0 gadgets(simulated, variant older) -> 1.36.0 gadgets(simulated, variant webhook)",
		},
		"faults": {made: Options{Faults: []string{"bad"}}, want: "gadgets(simulated, variant webhook, faults bad)"},
		"a scenario that changed": {
			change: of("faulty", func(run *reports.Run, _ *reports.Track, s *reports.Scenario) { run.Sources[s.File] += "# new\n" }),
			want:   "has changed since (and 3 more differences)",
		},
		"a scenario that is not selected": {judged: crd, want: "it has scenario named [webhook], which these flags do not select"},
		"a scenario that cannot run": {
			judged: Options{Profile: "webhook", Substitutes: []Substitute{{System: "gadgets", Definition: process("true")}}},
			want:   "it needs variant older",
			change: func(run *reports.Run) {
				for _, track := range run.Tracks {
					for i, s := range track.Scenarios {
						if s.Name == "upgrade" {
							run.Tracks = []*reports.Track{{Path: track.Path, Scenarios: track.Scenarios[i : i+1]}}
							return
						}
					}
				}
			},
		},
		"a scenario that could not be planned, which is then untested": {
			change: of("upgrade", func(_ *reports.Run, track *reports.Track, s *reports.Scenario) {
				track.Path, s.Status = nil, reports.Error
			}),
		},
		"a scenario that is missing, which is then untested": {
			change: func(run *reports.Run) { run.Tracks = run.Tracks[1:] },
		},
		"a scenario of another suite": {
			change: of("faulty", func(_ *reports.Run, track *reports.Track, s *reports.Scenario) {
				s.Name, track.Path = "of another suite", []string{"1.30.0"}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := plan(t, c.made).Result()
			if c.change != nil {
				c.change(run)
			}
			err := plan(t, c.judged).Made(run)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A scenario that could not be planned in the run is untested for that reason, also if these flags can plan it.
func TestReportOfARunWithAnUnplannedScenario(t *testing.T) {
	const why = "it cannot be planned: 1.99 is not in the cache"
	p := plan(t, Options{})
	run := ran(p, nil)
	for _, track := range run.Tracks {
		for i, s := range track.Scenarios {
			if s.Name == "upgrade" {
				s.Status, s.Message, s.Versions = reports.Error, why, []string{"1.99"}
				track.Scenarios = slices.Delete(track.Scenarios, i, i+1)
				run.Tracks = append(run.Tracks, &reports.Track{Name: "unplanned", Scenarios: []*reports.Scenario{s}})
				break
			}
		}
	}
	r := report(t, p, run)
	i := slices.IndexFunc(r.Scenarios, func(s conformances.Scenario) bool { return s.Name == "upgrade" })
	if s := r.Scenarios[i]; s.Status != conformances.Untested || s.Reason != why || s.Steps != "" || s.Path != nil {
		t.Errorf("got %+v", s)
	}
	if slices.Contains(r.Reproduce.Kubernetes, "1.99") {
		t.Errorf("the report says that it ran on %q", r.Reproduce.Kubernetes)
	}
}
