package conformance

import (
	"context"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
)

// Readings plans what runs after the plan itself: if a requirement with variants is not met as stated, the scenarios
// for the other variants. It is nil if there are none.
func (p *Plan) Readings(ctx context.Context, run *reports.Run) (*harness.Plan, error) {
	failed := map[string]bool{}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			for _, id := range s.Covers {
				status, _ := s.About(id)
				failed[id] = failed[id] || status == reports.Failed
			}
		}
	}
	var list []*scenarios.Scenario
	for _, q := range p.options.Suite.Requirements {
		for i, variant := range q.Variants {
			if i == 0 || !failed[q.ID] {
				continue
			}
			for _, c := range p.options.Suite.Readings(q.ID, variant.Name) {
				replaced, why := p.underTest(c).Substitute(p.selection.substitutes)
				if why != "" {
					p.selection.skip(c, why)
					continue
				}
				list = append(list, replaced)
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	var err error
	p.readings, err = harness.NewPlan(ctx, p.options.Provider, p.options.simulated(list), p.options.Plan)
	return p.readings, err
}

// underTest returns the scenario with the tested implementation instead of the simulator's variant that shows the
// reading.
func (p *Plan) underTest(original *scenarios.Scenario) *scenarios.Scenario {
	variant := ""
	if p.selection.profile != nil {
		variant = p.selection.profile.Variants[0]
	}
	c := *original
	c.Spec.Cluster.Systems = slices.Clone(original.Spec.Cluster.Systems)
	for i, s := range c.Spec.Cluster.Systems {
		if s.Name == p.options.Suite.System && s.Simulated != nil {
			c.Spec.Cluster.Systems[i].Simulated = &clusters.Simulated{
				Simulator: s.Simulated.Simulator, Variant: variant, Config: s.Simulated.Config,
			}
		}
	}
	return &c
}

// asRead returns the variant in which a requirement is met, given the evidence for its statement. If the statement
// failed, the requirement is met as another variant whose scenarios all passed; their evidence then counts. If none
// is, but one could not be judged, the requirement is untested.
func (p *Plan) asRead(q suites.Requirement, stated conformances.Evidence,
	outcomes map[string]outcome,
) (variant string, evidence conformances.Evidence) {
	evidence = stated
	var unjudged conformances.Evidence
	if len(stated.Failed) == 0 && len(stated.Passed) > 0 {
		variant = q.Variants[0].Name
	}
	for _, other := range q.Variants[1:] {
		var shown conformances.Evidence
		var titles []string
		for _, c := range p.options.Suite.Readings(q.ID, other.Name) {
			if o, ran := outcomes[c.Title()]; ran {
				titles = append(titles, c.Title())
				o.addTo(&shown, q.ID)
			}
		}
		if variant == "" && len(stated.Failed) > 0 && len(titles) > 0 && len(shown.Passed) == len(titles) {
			variant, evidence = other.Name, shown
			evidence.Others = append(evidence.Others, slices.Concat(stated.Failed, stated.Passed, stated.Untested)...)
			continue
		}
		if len(unjudged.Untested) == 0 && len(shown.Failed) == 0 {
			unjudged.Untested, unjudged.Decided = shown.Untested, shown.Decided
		}
		evidence.Others = append(evidence.Others, titles...)
	}
	if variant == "" && len(stated.Failed) > 0 && len(unjudged.Untested) > 0 {
		others := slices.Concat(stated.Failed, stated.Passed, stated.Untested, evidence.Others)
		unjudged.Others = slices.DeleteFunc(others, func(title string) bool {
			return slices.Contains(unjudged.Untested, title)
		})
		return "", unjudged
	}
	return variant, evidence
}
