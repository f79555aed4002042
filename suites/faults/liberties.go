package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/scratch"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/terminal"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// Freedom says with which liberties of a suite's simulator the suite passes. It must pass with each.
type Freedom struct {
	// Suite by its name.
	Suite string `json:"suite"`
	// Trials, one for each liberty, and one for all that can be combined.
	Trials []Trial `json:"trials"`
	// Repeat is how often each scenario ran with each trial's liberties.
	Repeat int `json:"repeat,omitempty"`
	// Took is the total time.
	Took time.Duration `json:"nanoseconds"`
}

// Trial is the result for some liberties.
type Trial struct {
	// Name of the liberty, or of all together.
	Name string `json:"name"`
	// Liberties of the simulator.
	Liberties []string `json:"liberties"`
	// Scenarios that were run, each as often as it was repeated.
	Scenarios int `json:"scenarios"`
	// Red are the scenarios that failed, with the reasons.
	Red []string `json:"red,omitempty"`
	// Unjudged are the scenarios and clusters without a verdict, with the reasons.
	Unjudged []string `json:"unjudged,omitempty"`
	// Idle are the liberties that took effect in no run. A suite that passes shows nothing about them.
	Idle []string `json:"idle,omitempty"`
	// Took is the time from the creation of its first cluster until its last one is deleted. Trials overlap.
	Took time.Duration `json:"nanoseconds"`
}

// AllTogether is the name of the trial of as many liberties as can be combined.
const AllTogether = "all-together"

// Liberties runs the suite with each liberty of its simulator, and with all that can be combined. The Freedom has the
// result (see Freedom.Err); the error is about the run itself.
func Liberties(ctx context.Context, o Options) (*Freedom, error) {
	began := time.Now()
	o.fill()
	trials, err := trialsOf(o.Suite, o.Only)
	if err != nil {
		return nil, err
	}
	dir, remove, err := scratch.Folder("liberties")
	if err != nil {
		return nil, err
	}
	notes := liberty.Notes(filepath.Join(dir, "taken"))
	o.Simulators = noting(o.Simulators, notes)
	shared := &pool{Provider: o.Provider, simulators: o.Simulators}
	o.With = nil // for faults
	r := runner{Options: o, pool: shared}
	f := &Freedom{Suite: o.Suite.Name, Repeat: o.Repeat}
	mine := planning.Deal(o.Shard, trials, func(t Trial) int { return len(r.scenariosWith(t)) })
	for batch := range slices.Chunk(mine, trialsAtOnce) {
		if err = r.try(ctx, batch, notes); err != nil {
			break
		}
		f.Trials = append(f.Trials, batch...)
	}
	f.Took = time.Since(began)
	if err = errors.Join(err, shared.evict(context.WithoutCancel(ctx)), remove()); err != nil {
		return f, fmt.Errorf("try the liberties of suite %s: %w", o.Suite.Name, err)
	}
	return f, nil
}

// noting returns the simulators, which note when a liberty takes effect.
func noting(all systems.Simulators, notes liberty.Notes) systems.Simulators {
	all = maps.Clone(all)
	for name, simulator := range all {
		simulator.Command = append(slices.Clone(simulator.Command), "--"+simulators.TakenFlag, string(notes))
		all[name] = simulator
	}
	return all
}

// trialsOf are the liberties of a suite to try, each alone, and all that can be combined.
func trialsOf(suite suites.Suite, only []string) ([]Trial, error) {
	if len(suite.Liberties) == 0 {
		return nil, fmt.Errorf("suite %s has no built-in simulator, and therefore no liberties to try", suite.Name)
	}
	var trials []Trial
	for _, l := range suite.Liberties {
		trials = append(trials, Trial{Name: l.Name, Liberties: []string{l.Name}})
	}
	trials = append(trials, Trial{Name: AllTogether, Liberties: liberty.Names(liberty.Together(suite.Liberties))})
	for _, name := range only {
		if !slices.ContainsFunc(trials, func(t Trial) bool { return t.Name == name }) {
			return nil, fmt.Errorf("the simulator of suite %s has no liberty %q; it has: %s, %s", suite.Name, name,
				strings.Join(liberty.Names(suite.Liberties), ", "), AllTogether)
		}
	}
	return slices.DeleteFunc(trials, func(t Trial) bool { return len(only) > 0 && !slices.Contains(only, t.Name) }), nil
}

// trialsAtOnce is how many trials share a run. While the clusters of one wait, those of others run.
const trialsAtOnce = 4

// try runs the scenarios of some trials, each with its liberties.
func (r runner) try(ctx context.Context, trials []Trial, notes liberty.Notes) error {
	var all []*scenarios.Scenario
	for i := range trials {
		trial := &trials[i]
		list := r.scenariosWith(*trial)
		trial.Scenarios = len(list) * r.Repeat
		r.Progress("%d scenarios with %s", trial.Scenarios, trial.Name)
		for n := range r.Repeat {
			again := marked(list, fmt.Sprintf("%s%d", markOfTrial(i), n))
			all = append(all, suites.WithLiberties(again, r.Suite.System, trial.Liberties)...)
		}
	}
	slices.SortStableFunc(all, byFirstState)
	run, err := &reports.Run{}, error(nil)
	if len(all) > 0 {
		run, err = r.execute(ctx, all, slow())
	}
	if err != nil {
		return err
	}
	for i := range trials {
		trial := &trials[i]
		own := tracksOf(run, markOfTrial(i))
		if trial.Idle, err = notes.Missing(trial.Liberties); err != nil {
			return err
		}
		trial.judge(own)
		trial.Took = timeOf(own)
		for _, reason := range slices.Concat(trial.Red, trial.Unjudged) {
			r.Progress("with %s: %s", trial.Name, reason)
		}
	}
	return nil
}

// markOfTrial is the beginning of the marks of a trial's runs.
func markOfTrial(i int) string { return fmt.Sprintf("l%dr", i) }

// scenariosWith are those that run with some liberties.
func (r runner) scenariosWith(trial Trial) []*scenarios.Scenario {
	if r.All {
		return r.Suite.Scenarios
	}
	return touched(r.Suite, trial.Liberties)
}

// judge reads the verdict on the liberties from its tracks: none if a cluster failed, if there is nothing to run, or if
// no liberty took effect.
func (t *Trial) judge(tracks []*reports.Track) {
	found := problemsOf(tracks)
	t.Red, t.Unjudged = append(t.Red, found.failed...), found.broken
	if t.Scenarios == 0 {
		t.Unjudged = append(t.Unjudged, "no selected scenario covers a requirement that it is about")
		t.Idle = nil // nothing ran
	}
	ran := 0
	for _, track := range tracks {
		ran += len(track.Scenarios)
	}
	if ran < t.Scenarios {
		t.Unjudged = append(t.Unjudged, fmt.Sprintf("%d of %d scenarios were skipped", t.Scenarios-ran, t.Scenarios))
	}
	if len(t.Idle) > 0 && len(t.Idle) == len(t.Liberties) && len(t.Red)+len(t.Unjudged) == 0 {
		t.Unjudged = append(t.Unjudged, "it took effect in no scenario")
	}
}

// touched are the scenarios that cover a requirement which one of the liberties is about, without those that take
// minutes.
func touched(suite suites.Suite, names []string) []*scenarios.Scenario {
	liberties := slices.DeleteFunc(slices.Clone(suite.Liberties),
		func(l simulators.Liberty) bool { return !slices.Contains(names, l.Name) })
	return slices.DeleteFunc(slices.Clone(suite.Scenarios), func(s *scenarios.Scenario) bool {
		return !slices.ContainsFunc(liberties, func(l simulators.Liberty) bool { return suites.Touches(l, s) })
	})
}

// Err names the liberties with which the suite failed.
func (f *Freedom) Err() error {
	var errs []error
	for _, t := range f.Trials {
		if len(t.Red) > 0 {
			errs = append(errs, fmt.Errorf("the specification allows liberty %s, but the suite failed with it: %s", t.Name,
				firstLines(t.Red)))
		}
	}
	return errors.Join(errs...)
}

// Unjudged names the liberties for which there is no verdict.
func (f *Freedom) Unjudged() error {
	var errs []error
	for _, t := range f.Trials {
		if len(t.Unjudged) > 0 {
			errs = append(errs, fmt.Errorf("the suite could not be judged with liberty %s: %s", t.Name,
				firstLines(t.Unjudged)))
		}
	}
	return errors.Join(errs...)
}

// firstLines are the first lines of some texts.
func firstLines(texts []string) string {
	const most = 5
	var lines []string
	for i, text := range texts {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(texts)-most))
			break
		}
		line, _, _ := strings.Cut(text, "\n")
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// String describes the results, for a person.
func (f *Freedom) String() string {
	var b strings.Builder
	table := [][]string{{"LIBERTY", "SCENARIOS", "FAILED", "NOT JUDGED", "TIME"}}
	passed := 0
	for _, t := range f.Trials {
		if len(t.Red) == 0 && len(t.Unjudged) == 0 {
			passed++
		}
		table = append(table, []string{
			t.Name, strconv.Itoa(t.Scenarios), strconv.Itoa(len(t.Red)), strconv.Itoa(len(t.Unjudged)),
			t.Took.Round(time.Second).String(),
		})
	}
	b.WriteString(terminal.Table(table, 0))
	for _, t := range f.Trials {
		if len(t.Idle) > 0 && len(t.Liberties) > 1 {
			fmt.Fprintf(&b, "\nwith %s, no effect of: %s\n", t.Name, strings.Join(t.Idle, ", "))
		}
	}
	runs := ""
	if f.Repeat > 1 {
		runs = fmt.Sprintf("%d runs each; ", f.Repeat)
	}
	fmt.Fprintf(&b, "\n%s: passed under %d of %d liberties; %s%s\n", f.Suite, passed, len(f.Trials), runs,
		f.Took.Round(time.Second))
	return b.String()
}
