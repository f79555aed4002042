package planning

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// checkTransitions finds transitions that change nothing, and those that the version skew policy forbids. After a
// transition with upTo, components of several versions run.
func (p *planner) checkTransitions(s *scenarios.Scenario, path []clusters.State) {
	planes, n, held := controlPlanesIn(path[0]), 0, false
	for i := range s.Spec.Steps {
		step := &s.Spec.Steps[i]
		if step.Transition == nil {
			continue
		}
		n++
		from, to := path[n-1], path[n]
		before, running := held, planes.states(from)
		held = step.Transition.UpTo > 0
		rounds := planes.move(step, to)
		switch {
		case !before && pathKey([]clusters.State{from}) == pathKey([]clusters.State{to}):
			p.problem(step.Position, "this transition leads to the state that the cluster already has: %s", to)
			continue
		case held && rounds == 0 && !changesOthers(from, to):
			p.problem(step.Position, "upTo: %d changes nothing: at least %d %s already in the state %s; raise upTo, "+
				"or leave it out", step.Transition.UpTo, step.Transition.UpTo, alreadyThere(step.Transition.Roll()), to)
			continue
		case step.Transition.Force:
			continue
		}
		for _, state := range running {
			p.checkSkew(step.Position, state, to)
		}
	}
}

func alreadyThere(roll clusters.Roll) string {
	what := "control plane"
	if roll.APIServersFirst {
		what = "component"
	}
	if roll.UpTo == 1 {
		return what + " is"
	}
	return what + "s are"
}

func (p *planner) checkSkew(at scenarios.Position, from, to clusters.State) {
	if from.Version == "" {
		return // the cluster may have any version, which is unknown without access to it
	}
	if err := skew.Check(from.Emulated(), to.Emulated()); err != nil {
		p.problem(at, "%w; force: true in the transition allows it", err)
	}
}

// checkVerbs finds verbs that the provider's clusters, or the systems on them, do not support.
func (p *planner) checkVerbs(ctx context.Context, s *scenarios.Scenario, path []clusters.State) {
	at := 0
	for _, step := range s.Spec.Steps {
		if step.Transition != nil {
			at++
		}
		verb := p.verbOf(&step)
		if verb.Cannot != nil {
			if why := verb.Cannot(&step, path[at]); why != "" {
				p.problem(step.Position, "%s: %s", step.Verb(), why)
			}
		}
		var ability clusters.Ability
		if step.Via != "" {
			ability = clusters.AbilityMixedVersions
		} else if verb.Needs != nil {
			ability = verb.Needs(&step)
		}
		if ability != "" && !p.has(ctx, ability, s.Spec.Cluster) {
			p.lacking(step.Position, step.Verb(), ability)
		}
	}
}

// checkWebhookCalls finds systems with failing or slow webhooks, if the provider does not support these.
func (p *planner) checkWebhookCalls(ctx context.Context, s *scenarios.Scenario, path []clusters.State) {
	places, known := pathPlaces(s), map[string]bool{}
	for i, state := range path {
		for _, system := range state.Systems {
			if system.WebhookCalls.Usual() || known[system.Name] || p.has(ctx, clusters.AbilityWebhookCalls, s.Spec.Cluster) {
				continue
			}
			known[system.Name] = true
			p.lacking(places[i], "webhookCalls of system "+system.Name, clusters.AbilityWebhookCalls)
		}
	}
}

// checkPath has the provider check the path, one state longer each time, to find the step of each problem.
func (p *planner) checkPath(ctx context.Context, track *Track) {
	places := pathPlaces(track.leads().Scenario)
	others := ""
	if n := len(track.Entries) - 1; n > 0 {
		others = " (so do other scenarios on the same path)"
	}
	known := map[string]bool{}
	for n := 1; n <= len(track.Path); n++ {
		found := errors.Join(p.rejected(ctx, track.Path[:n]), p.checkSystems(ctx, track.Path[:n]))
		for _, err := range flatten(found) {
			if known[err.Error()] {
				continue
			}
			known[err.Error()] = true
			p.problem(places[n-1], "%w%s", err, others)
		}
	}
}

// rejected returns what the provider rejects in a path. A borrowed cluster is as it is, so that it does not support
// what is rejected. In a cluster that the provider creates, it is a mistake, unless an ability is missing.
func (p *planner) rejected(ctx context.Context, path []clusters.State) error {
	errs := flatten(p.provider.Check(ctx, path))
	for i, err := range errs {
		var lacks *clusters.LacksError
		if errors.As(err, &lacks) {
			errs[i] = &UnsupportedError{fmt.Errorf("%w (%s)", err, skipping(lacks.Ability))}
		}
	}
	if _, borrowed := p.provider.(clusters.Borrower); borrowed {
		for i, err := range errs {
			errs[i] = &UnsupportedError{err}
		}
	}
	return errors.Join(errs...)
}

// flatten splits joined errors.
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
