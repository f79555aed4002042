// Package compare compares two runs of the same scenarios: what passes now, what no longer passes, and what got slower.
package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// A scenario is slower if its time grew by more than both this ratio and this duration: less is noise.
const (
	slowerRatio = 1.5
	slowerTime  = time.Second
)

// Change is one scenario that differs between the runs.
type Change struct {
	Name     string
	Old, New reports.Status
	// Remark says why it has its new status.
	Remark  string
	Was, Is time.Duration
}

// Result of a comparison. A scenario is in one of the lists, or in none.
type Result struct {
	// Worse passed before, or failed as known, but does not now. Gone had such a status before, and is missing now.
	Worse, Gone []Change
	// Better passes now, or fails as known, but did not before. Other has a different status, but is neither.
	Better, Other []Change
	// Fresh was not there before, Slower takes longer.
	Fresh, Slower []Change
	// Same is the number of unchanged scenarios.
	Same int
}

type entry struct {
	scenario *reports.Scenario
	remark   string
}

// Runs compares a run with an earlier one.
func Runs(before, after *reports.Run) Result {
	var r Result
	olds, oldNames := entries(before)
	news, newNames := entries(after)
	for _, name := range newNames {
		now, was := news[name], olds[name]
		c := Change{Name: name, New: now.scenario.Status, Remark: now.remark, Is: now.scenario.Duration()}
		if was.scenario == nil {
			r.Fresh = append(r.Fresh, c)
			continue
		}
		c.Old, c.Was = was.scenario.Status, was.scenario.Duration()
		switch {
		case good(c.Old) && !good(c.New):
			r.Worse = append(r.Worse, c)
		case !good(c.Old) && good(c.New):
			r.Better = append(r.Better, c)
		case c.Old != c.New:
			r.Other = append(r.Other, c)
		case c.Is-c.Was > slowerTime && float64(c.Is) > slowerRatio*float64(c.Was):
			r.Slower = append(r.Slower, c)
		default:
			r.Same++
		}
	}
	for _, name := range oldNames {
		if was := olds[name]; news[name].scenario == nil && good(was.scenario.Status) {
			r.Gone = append(r.Gone, Change{Name: name, Old: was.scenario.Status, Was: was.scenario.Duration()})
		}
	}
	return r
}

// good reports whether a status breaks nothing. Skipped is not good: the result is unknown.
func good(s reports.Status) bool { return s == reports.Passed || s == reports.Known }

func entries(run *reports.Run) (map[string]entry, []string) {
	all, names := map[string]entry{}, []string{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if _, twice := all[s.Name]; !twice {
				names = append(names, s.Name)
			}
			all[s.Name] = entry{s, reports.Headline(run, track, s)}
		}
	}
	return all, names
}

// Worsened reports whether a scenario got worse, is gone, is new and did not run, or fails and is new or had no verdict
// before. Slower scenarios do not count.
func (r Result) Worsened() bool {
	return len(r.Worse)+len(r.Gone) > 0 ||
		slices.ContainsFunc(r.Fresh, func(c Change) bool { return failing(c) || c.New == reports.NotRun }) ||
		slices.ContainsFunc(r.Other, func(c Change) bool { return failing(c) && c.Old != reports.Failed })
}

func failing(c Change) bool { return c.New == reports.Failed || c.New == reports.Error }

// String for a terminal.
func (r Result) String() string {
	var b strings.Builder
	list := func(title string, changes []Change, line func(Change) string) {
		if len(changes) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s\n", title)
		for _, c := range changes {
			fmt.Fprintf(&b, "  %s\n", line(c))
		}
	}
	status := func(c Change) string {
		text := fmt.Sprintf("%s: %s, was %s", c.Name, reports.StatusWord(c.New), reports.StatusWord(c.Old))
		if c.Remark != "" {
			text += ": " + c.Remark
		}
		return text
	}
	list("no longer passes:", r.Worse, status)
	list("no longer exists:", r.Gone, func(c Change) string {
		return fmt.Sprintf("%s: was %s", c.Name,
			reports.StatusWord(c.Old))
	})
	list("is new:", r.Fresh, func(c Change) string { return c.Name + ": " + reports.StatusWord(c.New) })
	list("passes now:", r.Better, status)
	list("is different:", r.Other, status)
	list("got slower:", r.Slower, func(c Change) string {
		return fmt.Sprintf("%s: %s, was %s", c.Name, plain.Duration(c.Is), plain.Duration(c.Was))
	})
	fmt.Fprintf(&b, "%d worse, %d gone, %d new, %d better, %d different, %d slower, %d the same\n",
		len(r.Worse), len(r.Gone), len(r.Fresh), len(r.Better), len(r.Other), len(r.Slower), r.Same)
	return b.String()
}
