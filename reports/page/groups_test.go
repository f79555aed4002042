package page

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// What did not pass is in the order of its weight: what hung comes before what never started. Flakes and known issues
// do not look like other failures.
func TestWhatDidNotPass(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	step := func(name string, status reports.Status, seconds int, message string) *reports.Step {
		return &reports.Step{
			Name: name, Verb: "eventually", Status: status, Started: at, Message: message,
			Finished: at.Add(time.Duration(seconds) * time.Second),
		}
	}
	waiting := &reports.Step{Name: "later", Verb: "eventually", Status: reports.NotRun}
	run := &reports.Run{
		Head: reports.Head{Started: at, Finished: at.Add(time.Minute)}, Interrupted: true,
		Tracks: []*reports.Track{{Name: "track-1", Scenarios: []*reports.Scenario{
			{
				Name: "known", Status: reports.Known, Started: at, KnownIssue: "It breaks. (https://example.com/1)",
				Steps: []*reports.Step{step("look", reports.Known, 1, "it broke\nmore")},
			},
			{Name: "idle", Status: reports.NotRun, Steps: []*reports.Step{waiting}},
			{
				Name: "hung", Status: reports.NotRun, Started: at, Message: "the run was interrupted\nmore",
				Steps: []*reports.Step{
					step("make", reports.Passed, 1, ""), step("wait", reports.NotRun, 59, "the run was interrupted"), waiting,
				},
			},
			{
				Name: "flake", Status: reports.Failed, Started: at,
				Runs:  []reports.Status{reports.Passed, reports.Failed, reports.Passed},
				Steps: []*reports.Step{step("look", reports.Failed, 1, "wanted 3, seen 2\nmore")},
			},
			{Name: "passed", Status: reports.Passed, Started: at, Steps: []*reports.Step{step("look", reports.Passed, 1, "")}},
			{Name: "skipped", Status: reports.Skipped},
		}}},
	}
	shown := func() (all []string) {
		c := collector{run: run, anchors: anchorsOf(run)}
		for _, g := range c.groups() {
			for _, f := range g.Members {
				all = append(all, fmt.Sprintf("%s|%s|%s|%s|%t", f.Word, f.Link, f.Headline, f.Message, f.Short))
			}
		}
		return all
	}
	want := []string{
		"unstable|flake/1|unstable: passed in run 1, 3; failed in run 2|wanted 3, seen 2|false",
		"not run|hung/2|interrupted in step 2 of 3: wait, after 59.0s||false",
		"not run|idle|interrupted||true",
		"known issue|known/1|It breaks. (https://example.com/1)|it broke|false",
	}
	if got := shown(); !reflect.DeepEqual(got, want) {
		t.Errorf("it shows\n%q", got)
	}
	text, err := Of(run, nil, nil)
	golden.Must(t, err)
	holds(t, text, `It breaks. (<a href="https://example.com/1">`, `<p class="message">wanted 3, seen 2</p>`)

	// While the run goes on, what waits for its turn has not failed.
	run.Interrupted, run.Finished = false, time.Time{}
	want[1] = "not run|hung/2|the run was interrupted||false"
	if got := shown(); !reflect.DeepEqual(got, []string{want[0], want[1], want[3]}) {
		t.Errorf("while it runs it shows\n%q", got)
	}
}

// Of scenarios that never started, the page shows the first ones, and how many more there are.
func TestManyThatNeverStarted(t *testing.T) {
	run := &reports.Run{Interrupted: true, Tracks: []*reports.Track{{}}}
	for i := range shownIdle + 5 {
		s := &reports.Scenario{Name: fmt.Sprint("s", i), Status: reports.NotRun}
		run.Tracks[0].Scenarios = append(run.Tracks[0].Scenarios, s)
	}
	c := collector{run: run, anchors: anchorsOf(run)}
	all := c.groups()
	if len(all) != 1 || len(all[0].Members) != shownIdle || all[0].Count != shownIdle+5 || all[0].More != 5 {
		t.Errorf("%+v", all)
	}
}

// The names behind a number like 1/2 are in the page's text, not only in a title.
func TestNamesOfBrokenCells(t *testing.T) {
	run, _ := brokenRun()
	want := []brokenCell{
		{"R-1", "1.34.4", "not judged: unknown; not run: broken; passed: good"},
		{"R-1", "1.35.4", "failed: broken; not judged: unknown; passed: good"},
	}
	if got := requirements(run).Broken; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	text, err := Of(run, nil, nil)
	golden.Must(t, err)
	holds(t, text, "<li>R-1, 1.35.4: failed: broken; not judged: unknown; passed: good</li>",
		`<span class="hidden"> not judged</span>`, `title="failed: broken; not judged: unknown; passed: good"`)
}
