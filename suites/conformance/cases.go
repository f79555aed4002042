package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/cases"
)

// Rules are the suite's rules for which cases can be drawn for the implementation: in its profile, with its substituted
// systems and its faults.
func (p *Plan) Rules() []cases.Rule {
	var rules []cases.Rule
	for _, rule := range p.options.Suite.Rules {
		c := &scenarios.Scenario{Metadata: scenarios.Metadata{Name: rule.Name}, Spec: scenarios.Spec{Cluster: rule.State}}
		if !p.selection.inProfile(c) {
			continue
		}
		c, why := c.Substitute(p.selection.substitutes)
		if why != "" {
			continue // its variant is not given
		}
		rule.State = p.options.simulated([]*scenarios.Scenario{c})[0].Spec.Cluster
		rules = append(rules, rule)
	}
	return rules
}

// WithCases returns a run with a scenario for each rule of generated cases, so that all reports of the run show them.
// Without a result, a rule has not run.
func (p *Plan) WithCases(run *reports.Run, results []cases.Result) *reports.Run {
	track := &reports.Track{Name: "generated cases"}
	for i, rule := range p.Rules() {
		result := cases.Result{Rule: rule, Err: errors.New("its cases were not judged")}
		if i < len(results) {
			result = results[i]
		}
		o := generated(result)
		s := &reports.Scenario{
			Name: o.Name, System: p.options.Suite.System, Status: reports.Passed, Covers: shown(result, o),
			Versions: []string{rule.State.Version}, Started: run.Finished, Finished: run.Finished,
		}
		switch {
		case o.Status == conformances.Failed:
			s.Status, s.Message = reports.Failed, o.Evidence
		case i >= len(results):
			s.Status, s.Message, s.Started, s.Finished = reports.NotRun, o.Reason, time.Time{}, time.Time{}
		case o.Status == conformances.Untested:
			s.Status, s.Message = reports.Error, o.Reason
		}
		track.Scenarios = append(track.Scenarios, s)
	}
	whole := *run
	whole.Tracks = append(slices.Clip(run.Tracks), track)
	return &whole
}

// generatedPrefix is how the names of the scenarios begin that show generated cases in a run.
const generatedPrefix = "generated: "

// generatedBefore are the results of generated cases that the run has from before, if none were generated now.
func (r Results) generatedBefore() (all []outcome) {
	if len(r.Cases) > 0 {
		return nil
	}
	for _, track := range r.Run.Tracks {
		for _, s := range track.Scenarios {
			if strings.HasPrefix(s.Name, generatedPrefix) {
				o := outcomeOf(s)
				o.Source, o.Steps = "generated", ""
				all = append(all, o)
			}
		}
	}
	return all
}

// shown are the requirements that a result of generated cases says something about.
func shown(result cases.Result, o outcome) []string {
	if o.only != "" {
		return []string{o.only}
	}
	return slices.DeleteFunc(slices.Clone(result.Rule.Covers), func(id string) bool {
		return o.Status == conformances.Passed && result.About[id] == 0
	})
}

// generated is the result of generated cases as that of a scenario. A disagreement fails only its requirement, and the
// rule's others are untested. It fails all of the rule's if its requirement is not one of them.
func generated(result cases.Result) outcome {
	o := outcome{Scenario: conformances.Scenario{
		Name: generatedPrefix + result.Rule.Name, Status: conformances.Passed, Source: "generated",
		Path:  []string{result.Rule.State.String()},
		Cases: &conformances.Cases{Seed: result.Seed, Agreed: result.Judged},
	}}
	switch {
	case result.Err != nil && result.Disagreement == nil:
		o.Status, o.Reason = conformances.Untested, firstLine(result.Err.Error())
	case result.Disagreement != nil:
		o.Status, o.Cases.Disagreement = conformances.Failed, result.Disagreement.String()
		o.Reason = firstLine(o.Cases.Disagreement)
		o.Evidence = fmt.Sprintf("%s\n\n%d cases agreed before it was found; seed %d", o.Cases.Disagreement, result.Judged,
			result.Seed)
		if result.Err != nil {
			o.Evidence += "\nit was not reduced completely: " + firstLine(result.Err.Error())
		}
		if id := result.Disagreement.Case.Requirement; slices.Contains(result.Rule.Covers, id) {
			o.only = id
		}
	}
	return o
}
