// Package simulator is a small implementation of LeaderWorkerSet as KEP-173 describes it: webhooks and controllers for
// any cluster. It has one of many bugs on request.
package simulator

import (
	"context"

	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Name of the simulated system.
const Name = "leaderworkerset"

// The variants: the differences between the specification and its upstream implementation.
const (
	// VariantLabel marks a leader whose subdomain was overwritten with a label, as KEP-173 says. It is the default.
	VariantLabel = "label"
	// VariantAnnotation marks it with an annotation of the same key, as kubernetes-sigs/lws does.
	VariantAnnotation = "annotation"
	// VariantBefore is a LeaderWorkerSet from before KEP-173: its API has no networkConfig, and every Service is shared.
	VariantBefore = "before-kep-173"
)

// Variants lists the variants.
func Variants() []string {
	return []string{VariantLabel, VariantAnnotation, VariantBefore}
}

// Options describe where the simulator runs and how it behaves.
type Options = operator.Options

// Run installs the API and the webhooks, and serves and reconciles until the context ends. It survives a restart of the
// API server. It returns an error only if the options are wrong. It logs any other error and tries again.
func Run(ctx context.Context, o Options) error {
	behaviour, err := newBehaviour(o.Variant, o.Faults, o.Liberties)
	behaviour.Liberties = behaviour.Liberties.Noting(o.Taken)
	if err != nil {
		return err
	}
	authority, err := operator.Authority(o.CertDir)
	if err != nil {
		return err
	}
	o.RESTConfig = operator.Unthrottled(o.RESTConfig)
	s := &simulation{Options: o, behaviour: behaviour, authority: authority}
	return operator.Run(ctx, o.Logger, s.once)
}

// simulation is one run of the simulator.
type simulation struct {
	Options
	behaviour behaviour
	authority []byte
}

// once installs everything, then serves until the context or the manager ends.
func (s *simulation) once(ctx context.Context) error {
	if err := s.install(ctx); err != nil {
		return err
	}
	return s.behaviour.Liberties.Manage(ctx, s.manager)
}
