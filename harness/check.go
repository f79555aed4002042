package harness

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Prototype is a provider that shows what its clusters can do before there is one: the value that it returns is never used but to see
// which of the optional interfaces it has, and may be a nil pointer of the clusters' type.
type Prototype interface {
	Prototype() clusters.Cluster
}

// checkTransitions finds transitions that lead nowhere, and those that the version skew policy forbids.
func (p *planner) checkTransitions(s *scenarios.Scenario, path []clusters.State) {
	n := 0
	for _, step := range s.Spec.Steps {
		if step.Transition == nil {
			continue
		}
		n++
		from, to := path[n-1], path[n]
		if pathKey([]clusters.State{from}) == pathKey([]clusters.State{to}) {
			p.problem(step.Position, "this transition leads to the state that the cluster is in already: %s", to)
			continue
		}
		if !step.Transition.Force {
			p.checkSkew(step.Position, from, to)
		}
	}
}

func (p *planner) checkSkew(at scenarios.Position, from, to clusters.State) {
	if from.Version == "" {
		return // any that the cluster has; only who looks at no cluster does not know it by now
	}
	before, err := clusters.ParseVersion(from.Version)
	if err != nil {
		p.problem(at, "%w", err)
		return
	}
	after, err := clusters.ParseVersion(to.Version)
	if err != nil {
		p.problem(at, "%w", err)
		return
	}
	if err := skew.Check(before, after); err != nil {
		p.problem(at, "%w", err)
	}
}

// checkVerbs finds verbs that the provider's clusters, or the systems on them, have nothing for.
func (p *planner) checkVerbs(s *scenarios.Scenario, path []clusters.State) {
	at := 0
	for _, step := range s.Spec.Steps {
		if step.Transition != nil {
			at++
		}
		for _, reference := range []*scenarios.ComponentReference{step.Kill, step.Restart} {
			if why := uncontrollable(reference, path[at]); why != "" {
				p.problem(step.Position, "%s: %s", step.Verb(), why)
			}
		}
	}
	prototype, ok := p.provider.(Prototype)
	if !ok {
		return
	}
	cluster := prototype.Prototype()
	_, controls := cluster.(clusters.ComponentController)
	_, metrics := cluster.(clusters.MetricsSource)
	_, dns := cluster.(clusters.DNSServer)
	snapshots, execs := clusters.Has(cluster, clusters.AbilitySnapshots), clusters.Has(cluster, clusters.AbilityExec)
	breaks := clusters.Has(cluster, clusters.AbilityBreakages)
	for _, step := range s.Spec.Steps {
		lacks := ""
		switch {
		case (ofComponent(step.Kill) || ofComponent(step.Restart)) && !controls:
			lacks = "can't stop and start their components"
		case step.Metric != nil && !metrics:
			lacks = "don't show their components' metrics"
		case step.Resolve != nil && !dns:
			lacks = "have no DNS server that could be asked"
		case (step.Snapshot != nil || step.Restore != nil) && !snapshots:
			lacks = "can't keep and put back what is stored in them (with needs: [snapshots] the scenario is skipped there)"
		case step.Exec != nil && !execs:
			lacks = "have no pods in which programs run (with needs: [exec] the scenario is skipped there)"
		case step.Breaks() != nil && step.Breaks().System == "" && !breaks:
			lacks = "don't tell which of their components broke (with needs: [breakages] the scenario is skipped there)"
		}
		if lacks != "" {
			p.problem(step.Position, "%s: the clusters of provider %s %s", step.Verb(), p.provider.Name(), lacks)
		}
	}
}

func ofComponent(r *scenarios.ComponentReference) bool { return r != nil && r.System == "" }

// checkPath asks the provider about ever longer beginnings of the path, to tell at which step each problem comes in.
func (p *planner) checkPath(ctx context.Context, track *Track) {
	places := pathPlaces(track.leads().Scenario)
	others := ""
	if n := len(track.Entries) - 1; n > 0 {
		others = " (so do other scenarios on the same path)"
	}
	known := map[string]bool{}
	for n := 1; n <= len(track.Path); n++ {
		found := errors.Join(p.provider.Check(ctx, track.Path[:n]), p.checkSystems(ctx, track.Path[:n]))
		for _, err := range flatten(found) {
			if known[err.Error()] {
				continue
			}
			known[err.Error()] = true
			p.problem(places[n-1], "%w%s", err, others)
		}
	}
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, part := range joined.Unwrap() {
		all = append(all, flatten(part)...)
	}
	return all
}
