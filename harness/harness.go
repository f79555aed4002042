// Package harness runs planned scenarios: it starts clusters, makes their transitions, runs the steps, and judges each
// of them.
package harness

import (
	"context"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// What is planned and then executed.
type (
	// Plan is tracks, each a cluster with its path and the scenarios on it.
	Plan = planning.Plan
	// PlanOptions say how scenarios are put on clusters.
	PlanOptions = planning.Options
)

// NewPlan plans scenarios, with what the harness knows of their verbs. Its error joins all problems, each with its
// position in the scenarios' files.
func NewPlan(ctx context.Context, provider clusters.Provider, set []*scenarios.Scenario, o PlanOptions) (*Plan, error) {
	return planning.New(ctx, provider, set, func(step *scenarios.Step) planning.Verb {
		v := verbOf(step)
		return planning.Verb{Needs: v.needs, Cannot: v.cannot, Alone: v.alone}
	}, o)
}
