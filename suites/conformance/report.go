package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/cases"
)

// maxEvidence is the maximal evidence for one scenario in a report, in bytes; junit.xml has the rest.
const maxEvidence = 4000

// About is the part of a report that does not come from the run.
type About struct {
	// Implementation that was tested.
	Implementation conformances.Implementation
	// Command reproduces the report.
	Command string
	// Rehearse is this program's version.
	Rehearse string
}

// Results are the input of a report.
type Results struct {
	// Run of the plan, and Readings, the run of its Readings; nil if there was none. Either may have been interrupted.
	Run, Readings *reports.Run
	// Cases that were generated.
	Cases []cases.Result
	// Interrupted: the run was stopped early.
	Interrupted bool
}

// Report builds the report.
func (p *Plan) Report(results Results, about About) (*conformances.Report, error) {
	run := results.Run
	suite := p.options.Suite
	digest, err := suite.Digest()
	if err != nil {
		return nil, err
	}
	r := &conformances.Report{
		APIVersion: conformances.APIVersion, Kind: conformances.Kind,
		Date:  run.Started.UTC().Truncate(time.Second),
		Suite: conformances.Suite{Name: suite.Name, Digest: digest}, Profile: p.options.Profile, Focus: p.options.Focus,
		Implementation: about.Implementation, Interrupted: results.Interrupted || run.Interrupted ||
			(results.Readings != nil && results.Readings.Interrupted),
		Reproduce: conformances.Reproduction{
			Command: about.Command, Rehearse: about.Rehearse, Provider: run.Provider,
			Kubernetes: []string{},
		},
	}
	outcomes := p.outcomes(results)
	for _, c := range suite.Scenarios {
		if o, ok := outcomes[c.Title()]; ok {
			r.Scenarios = append(r.Scenarios, o.Scenario)
			r.Reproduce.Kubernetes = append(r.Reproduce.Kubernetes, o.versions...)
		}
	}
	slices.SortFunc(r.Reproduce.Kubernetes, reports.CompareVersions)
	r.Reproduce.Kubernetes = slices.Compact(r.Reproduce.Kubernetes)
	p.requirements(r, outcomes, results)
	r.Conclude()
	return r, nil
}

// requirements combines the evidence. A requirement that no scenario or generated case covers is outside of the profile
// or the focus.
func (p *Plan) requirements(r *conformances.Report, outcomes map[string]outcome, results Results) {
	drawn, kept := results.Cases, results.generatedBefore()
	for _, result := range drawn {
		r.Scenarios = append(r.Scenarios, generated(result).Scenario)
	}
	for _, o := range kept {
		r.Scenarios = append(r.Scenarios, o.Scenario)
	}
	for _, q := range p.options.Suite.Requirements {
		var evidence conformances.Evidence
		found := false
		for _, c := range p.options.Suite.Covering(q.ID) {
			if o, ok := outcomes[c.Title()]; ok {
				found = true
				o.addTo(&evidence, q.ID)
			}
		}
		for _, result := range drawn {
			if slices.Contains(result.Rule.Covers, q.ID) {
				found = true
				// That all agree says something only of a requirement that a case was about.
				if result.Disagreement != nil || result.Err != nil || result.About[q.ID] > 0 {
					generated(result).addTo(&evidence, q.ID)
				}
			}
		}
		for _, o := range kept {
			if slices.Contains(o.result.Covers, q.ID) {
				found = true
				o.addTo(&evidence, q.ID)
			}
		}
		if !found && p.options.Profile+p.options.Focus != "" {
			r.OutsideProfile = append(r.OutsideProfile, q.ID)
			continue
		}
		variant := ""
		if len(q.Variants) > 0 {
			variant, evidence = p.asRead(q, evidence, outcomes)
		}
		r.Requirements = append(r.Requirements, conformances.Requirement{
			ID: q.ID, Level: string(q.Level), Statement: q.Statement, Source: q.Source, Variant: variant, Scenarios: evidence,
		})
	}
}

// outcome is the result of a scenario, and the requirements of its known issue.
type outcome struct {
	conformances.Scenario
	known    []string
	versions []string
	// only is the one requirement that generated cases fail; "" if their result is about all of the rule's.
	only string
	// result is the scenario's own; nil if it did not run.
	result *reports.Scenario
}

// addTo adds the scenario's title to the requirement's evidence, with the step that decided it.
func (o outcome) addTo(e *conformances.Evidence, id string) {
	list := &e.Untested
	status, step := o.about(id)
	switch status {
	case conformances.Passed:
		list = &e.Passed
	case conformances.Failed:
		list = &e.Failed
	case conformances.Skipped:
		list = &e.Skipped
	case conformances.Known:
		list = &e.Ended
		if slices.Contains(o.known, id) || o.sharesKnown(id) {
			list = &e.Known
		}
	case conformances.Untested:
	}
	*list = append(*list, o.Name)
	if step != "" {
		e.Decide(o.Name, step)
	}
}

// sharesKnown reports whether the step of the known issue also covers the requirement.
func (o outcome) sharesKnown(id string) bool {
	if o.result == nil {
		return false
	}
	status, step := o.result.About(id)
	return status == reports.Known && step != nil && slices.Contains(step.Covers, id)
}

// about is the scenario's verdict on one requirement, and the step that decided it, "" if no single step did.
func (o outcome) about(id string) (conformances.Status, string) {
	if o.only != "" && o.only != id {
		return conformances.Untested, "ended at a disagreement about " + o.only
	}
	if o.result == nil || o.Status != conformances.Failed && o.Status != conformances.Known &&
		o.Status != conformances.Untested {
		return o.Status, ""
	}
	status, step := o.result.About(id)
	switch {
	case step == nil && status == reports.NotRun && o.result.Status != reports.NotRun:
		return conformances.Untested, "each step decides other requirements"
	case step == nil:
		return o.Status, ""
	}
	decided := fmt.Sprintf("step %d of %d (%s)", slices.Index(o.result.Steps, step)+1, len(o.result.Steps), step.Name)
	switch status {
	case reports.Passed:
		return conformances.Passed, decided
	case reports.Failed:
		return conformances.Failed, decided + ": " + seen(step.Message)
	case reports.Known:
		return conformances.Known, decided
	case reports.NotRun:
		if o.Status == conformances.Known {
			return conformances.Known, "" // it ended early at another requirement's known issue
		}
		if step.Status == reports.Failed {
			return conformances.Untested, decided + " failed, but decides no requirement: " + firstLine(step.Message)
		}
		return conformances.Untested, decided + " did not run"
	default:
		return conformances.Untested, decided + ": " + seen(step.Message)
	}
}

// outcomes of the planned and the skipped scenarios, by title.
func (p *Plan) outcomes(results Results) map[string]outcome {
	all := map[string]outcome{}
	for _, c := range p.selection.skipped {
		title := c.Title()
		all[title] = outcome{Scenario: conformances.Scenario{
			Name: title, Status: conformances.Skipped, Source: source(c), Reason: p.selection.why[title],
		}}
	}
	for _, c := range p.selection.unplanned {
		all[c.Title()] = untested(c, p.selection.why[c.Title()])
	}
	for _, c := range p.selection.kept {
		// Every scenario of the plan is in the report, whatever the run's result.
		all[c.Title()] = untested(c, "missing in the run's result")
	}
	originals := map[string]*scenarios.Scenario{}
	for _, c := range p.options.Suite.Scenarios {
		originals[c.Title()] = c
	}
	paths := p.paths()
	for _, track := range results.tracks() {
		for _, s := range track.Scenarios {
			switch c := originals[s.Name]; {
			case c == nil:
			case unplanned(track, s):
				all[s.Name] = untested(c, seen(s.Message))
			case s.Status == reports.Skipped && all[s.Name].Status == conformances.Skipped:
				// The selection's reason is there already.
			default:
				o := outcomeOf(s)
				o.Source, o.Path, o.Variants = source(c), paths[s.Name], suites.Variants(c, p.options.Suite.System)
				all[s.Name] = o
			}
		}
	}
	return all
}

func untested(c *scenarios.Scenario, reason string) outcome {
	return outcome{Scenario: conformances.Scenario{
		Name: c.Title(), Status: conformances.Untested, Source: source(c), Reason: reason,
	}}
}

func (r Results) tracks() []*reports.Track {
	if r.Readings == nil {
		return r.Run.Tracks
	}
	return slices.Concat(r.Run.Tracks, r.Readings.Tracks)
}

// paths are the states of each scenario's path, by title. A scenario may end before its track.
func (p *Plan) paths() map[string][]string {
	all := map[string][]string{}
	tracks := p.Tracks
	if p.readings != nil {
		tracks = slices.Concat(tracks, p.readings.Tracks)
	}
	for _, track := range tracks {
		for _, entry := range track.Entries {
			var path []string
			for _, state := range entry.Path(track) {
				path = append(path, state.String())
			}
			all[entry.Scenario.Title()] = path
		}
	}
	return all
}

func source(c *scenarios.Scenario) string {
	return fmt.Sprintf("%s:%d", c.Position.File, c.Position.Line)
}

func outcomeOf(s *reports.Scenario) outcome {
	passed, known := 0, 0
	for _, step := range s.Steps {
		switch step.Status {
		case reports.Passed:
			passed++
		case reports.Known:
			known++
		}
	}
	o := outcome{result: s, known: s.KnownCovers, versions: s.Versions, Scenario: conformances.Scenario{
		Name: s.Name, Steps: fmt.Sprintf("%d of %d", passed, len(s.Steps)), Reason: seen(s.Message),
	}}
	switch {
	case s.Status == reports.Passed:
		o.Status, o.Reason = conformances.Passed, ""
	case s.Status == reports.Failed && len(s.KnownCovers) > 0 && passed == len(s.Steps):
		// All steps passed, although a known issue was expected on this version. That is a mistake of the suite, not of
		// the implementation.
		o.Status = conformances.Passed
	case s.Status == reports.Failed && known > 0 && passed+known == len(s.Steps):
		// Likewise, but another known issue occurred.
		o.Status, o.Reason, o.Evidence = conformances.Known, s.KnownIssue, evidence(s)
	case s.Status == reports.Failed:
		o.Status, o.Evidence = conformances.Failed, evidence(s)
	case s.Status == reports.Known:
		o.Status, o.Reason, o.Evidence = conformances.Known, s.KnownIssue, evidence(s)
	case s.Status == reports.Error:
		o.Status, o.Evidence = conformances.Untested, evidence(s)
	case s.Status == reports.Skipped:
		o.Status, o.versions, o.Steps = conformances.Skipped, nil, ""
	default:
		o.Status, o.versions = conformances.Untested, nil
		if o.Reason == "" {
			o.Reason = "it did not run"
		}
	}
	return o
}

// evidence is all the information about a scenario, up to a limit. No line ends with a space, so that it is readable as
// YAML.
func evidence(s *reports.Scenario) string {
	lines := strings.Split(reports.Explain(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " \r")
	}
	text := strings.Join(lines, "\n")
	if len(text) > maxEvidence {
		text = strings.ToValidUTF8(text[:maxEvidence], "") + "\n... (the rest is in junit.xml)"
	}
	return text
}
