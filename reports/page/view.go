package page

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// view is the data of the template.
type view struct {
	Title, Sentence, Description string
	// Verdict gives the top its colour.
	Verdict   reports.Status
	Chips     []chip
	Facts     []fact
	Reproduce string
	Notes     []string
	Groups    []group
	Findings  []finding
	Moved     []moved
	Matrices  []matrix
	Rows      []scenarioRow
	Choices   []choice
	// HasTimeline says that Data contains something to draw.
	HasTimeline bool

	Styles template.CSS
	Data   template.HTML
	Script template.JS
}

// finding is a result about objects on a path through versions.
type finding struct {
	Status                      reports.Status
	Severity, Title, Hop, Count string
	Objects                     []string
	More                        int
	Lines                       []findingLine
	// Scenario reproduces it; "" for none.
	Scenario string
}

// findingLine has a word, its text, and a link to read more; "" for none.
type findingLine struct{ Name, Text, Link string }

// chip is a count of scenarios with a status.
type chip struct {
	Status reports.Status
	Count  int
}

type fact struct{ Name, Text string }

// choice is a filter by a property, with its values.
type choice struct {
	Name, Label string
	Values      []string
}

// scenarioRow is one line of the list of all scenarios.
type scenarioRow struct {
	Anchor, Name, System, Took, Remark, Place string
	Status                                    reports.Status
	Number                                    int
	// Steps are the links to steps that the page contains. Without scripts they lead to this line.
	Steps []string
}

func (c *collector) view() *view {
	run, counts := c.run, reports.Count(c.run)
	v := &view{
		Title: "Rehearse: " + counts.String(), Sentence: sentence(run), Description: counts.String(), Verdict: verdict(run),
		HasTimeline: !run.Started.IsZero(),
		Chips:       chips(counts), Facts: facts(run), Reproduce: run.Command, Notes: notes(run), Groups: c.groups(),
		Moved: c.movements(), Choices: choices(run),
	}
	if m := requirements(run); len(m.Rows) > 0 {
		v.Matrices = append(v.Matrices, m)
	}
	steps := map[string][]string{}
	link := func(to string) {
		if name, step, _ := strings.Cut(to, "/"); step != "" && !slices.Contains(steps[name], to) {
			steps[name] = append(steps[name], to)
		}
	}
	for _, g := range v.Groups {
		for _, f := range g.Members {
			link(f.Link)
		}
	}
	for _, m := range v.Moved {
		link(m.Link)
	}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			took := ""
			if !s.Started.IsZero() {
				took = plain.Duration(s.Duration())
			}
			v.Rows = append(v.Rows, scenarioRow{
				Anchor: c.anchors[s], Name: s.Name, System: s.System, Took: took, Remark: brief(reports.Headline(run, track, s)),
				Place: reports.Location(s), Status: s.Status, Number: len(v.Rows), Steps: steps[c.anchors[s]],
			})
		}
	}
	return v
}

// verdict is passed only if everything passed.
func verdict(run *reports.Run) reports.Status {
	c := reports.Count(run)
	switch {
	case c.Failed > 0:
		return reports.Failed
	case c.Errors > 0 || c.Setup > 0:
		return reports.Error
	case c.NotRun > 0 || run.Interrupted || run.Finished.IsZero() || c.Passed+c.Known == 0:
		return reports.NotRun
	case c.Known > 0:
		return reports.Known
	default:
		return reports.Passed
	}
}

// sentence returns what ran, on which versions, and the result.
func sentence(run *reports.Run) string {
	c := reports.Count(run)
	on := ""
	if way := way(run); way != "" {
		on = " on Kubernetes " + way
	}
	end := ""
	switch {
	case run.Interrupted && run.Runs > 0:
		end = " Some repetitions did not run to their end: what they did not reach is not judged."
	case run.Interrupted:
		end = " The run was interrupted: scenarios that did not run are not judged."
	case run.Finished.IsZero():
		end = " The run had not finished when this page was written."
	}
	if s := only(run); s != nil && c.Setup == 0 {
		return fmt.Sprintf("%s %s%s.%s", s.Name, becomes[s.Status], on, end)
	}
	return fmt.Sprintf("%s%s: %s.%s", plain.Plural(c.Total(), "scenario"), on, c, end)
}

// becomes describes the result of a scenario.
var becomes = map[reports.Status]string{
	reports.Passed: "passed", reports.Failed: "failed", reports.Error: "could not be judged",
	reports.Known: "failed with a known issue", reports.Skipped: "was skipped", reports.NotRun: "did not run to its end",
}

// way returns the versions of the path. If there are several paths, it returns all versions.
func way(run *reports.Run) string {
	var ways []string
	for _, track := range run.Tracks {
		var versions []string
		for _, state := range track.Path {
			if version := reports.VersionOf(state); len(versions) == 0 || versions[len(versions)-1] != version {
				versions = append(versions, version)
			}
		}
		if way := strings.Join(versions, " → "); way != "" && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 1 {
		return ways[0]
	}
	return strings.Join(reports.Versions(run), ", ")
}

// only returns the scenario of a run that has just one, or nil.
func only(run *reports.Run) *reports.Scenario {
	var found *reports.Scenario
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

func chips(c reports.Counts) []chip {
	var all []chip
	for _, one := range []chip{
		{reports.Failed, c.Failed},
		{reports.Error, c.Errors},
		{reports.Known, c.Known},
		{reports.Passed, c.Passed},
		{reports.Skipped, c.Skipped},
		{reports.NotRun, c.NotRun},
	} {
		if one.Count > 0 {
			all = append(all, one)
		}
	}
	return all
}

// times are the facts when something began, and how long it took.
func times(started, finished time.Time, took time.Duration) []fact {
	var all []fact
	if !started.IsZero() {
		all = append(all, fact{"Started", started.UTC().Format("2006-01-02 15:04:05 MST")})
	}
	if !finished.IsZero() {
		all = append(all, fact{"Took", plain.Duration(took)})
	}
	return all
}

func facts(run *reports.Run) []fact {
	all := times(run.Started, run.Finished, run.Duration())
	var paths []string
	for _, track := range run.Tracks {
		if path := strings.Join(track.Path, " → "); path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if len(paths) > 6 {
		paths = append(paths[:6], fmt.Sprintf("and %d more paths, which the timeline shows", len(paths)-6))
	}
	all = append(all, fact{"States", strings.Join(paths, "\n")})
	all = append(all, fact{"Clusters", run.Provider})
	if run.Program != "" {
		all = append(all, fact{"Rehearse", run.Program})
	}
	return all
}

// notes returns what is missing from the page, and why.
func notes(run *reports.Run) []string {
	var all []string
	if run.Format < 2 {
		all = append(all, "This run.json has an older format: it lacks the command, the files of the scenarios and the "+
			"components' processes.")
	}
	if part := reports.PartOf(run); part != "" {
		all = append(all, part)
	}
	told, kept := false, false
	for _, track := range run.Tracks {
		told = told || len(track.Processes) > 0
		for _, s := range track.Scenarios {
			kept = kept || slices.ContainsFunc(s.Artifacts, isHistory)
		}
	}
	if !told && run.Format >= 2 {
		all = append(all, fmt.Sprintf("Clusters of the provider %s do not report when their components start and exit.",
			run.Provider))
	}
	if !kept {
		all = append(all, "No history was kept, so the page shows no objects. Use rehearse run --history to keep "+
			"it; failed scenarios always keep it.")
	}
	return all
}

func choices(run *reports.Run) []choice {
	systems, requirements := map[string]bool{}, map[string]bool{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if s.System != "" {
				systems[s.System] = true
			}
			for _, id := range s.Covers {
				requirements[id] = true
			}
		}
	}
	var all []choice
	for _, c := range []choice{
		{"version", "Version", reports.Versions(run)},
		{"system", "System", slices.Sorted(maps.Keys(systems))},
		{"requirement", "Requirement", slices.Sorted(maps.Keys(requirements))},
	} {
		if len(c.Values) > 1 {
			all = append(all, c)
		}
	}
	return all
}

// millis returns a time as the script needs it; 0 is no time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
