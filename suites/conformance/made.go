package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites"
)

// Made returns an error if a run was not made of this plan. Without this check, the report would show states that did
// not run, or judge another implementation. A scenario of the plan that the run lacks is no error: it is untested.
func (p *Plan) Made(run *reports.Run) error {
	planned, made := ranOf(p.Result()), ranOf(run)
	var wrong []string
	for _, c := range p.options.Suite.Scenarios {
		was, ran := made[c.Title()]
		is, known := planned[c.Title()]
		switch why := p.selection.why[c.Title()]; {
		case !ran || len(was.path)+len(is.path) == 0 || c.Metadata.Labels[suites.ReadingLabel] != "":
		case len(is.path) == 0 && why != "":
			wrong = append(wrong, fmt.Sprintf("it has scenario %s, which cannot run with these flags: %s", c.Title(), why))
		case !known:
			wrong = append(wrong, fmt.Sprintf("it has scenario %s, which these flags do not select", c.Title()))
		case was.text != is.text && was.text != "" && is.text != "": // a run has only the files of what it ran
			wrong = append(wrong, fmt.Sprintf("scenario %s has changed since", c.Title()))
		case !slices.Equal(was.path, is.path):
			wrong = append(wrong, fmt.Sprintf("scenario %s went through %s, but these flags plan %s", c.Title(), was, is))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	more := ""
	if n := len(wrong) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more differences)", n)
	}
	return fmt.Errorf("the run does not match suite %s with these flags: %s%s; use the flags and the scenarios with "+
		"which it was made", p.options.Suite.Name, wrong[0], more)
}

// scenarioRun is what a run did with a scenario.
type scenarioRun struct {
	// path is the states that the scenario went through, and text its whole file.
	path []string
	text string
}

// String returns the path.
func (r scenarioRun) String() string {
	if len(r.path) == 0 {
		return "no state"
	}
	return strings.Join(r.path, " -> ")
}

// unplanned reports whether a scenario of a run could not be planned: it has an error, but no path.
func unplanned(track *reports.Track, s *reports.Scenario) bool {
	return s.Status == reports.Error && len(track.Path) == 0
}

// ranOf returns what a run did with each scenario, by title.
func ranOf(run *reports.Run) map[string]scenarioRun {
	all := map[string]scenarioRun{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			if unplanned(track, s) {
				continue // it is untested
			}
			states := 1
			for _, step := range s.Steps {
				if step.Verb == "transition" {
					states++
				}
			}
			// A scenario may leave its track before the end.
			all[s.Name] = scenarioRun{path: track.Path[:min(states, len(track.Path))], text: run.Sources[s.File]}
		}
	}
	return all
}
