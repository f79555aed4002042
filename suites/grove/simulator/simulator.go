// Package simulator is a small operator of Grove as GREP-375 describes it. From PodCliqueSets, it creates PodGangs,
// PodCliques and gated Pods, with the help of scheduler backends. It has one of many bugs on request.
package simulator

import (
	"context"

	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/backends"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Name of the simulated system.
const Name = "grove"

// The variants: the specification, its upstream implementation where that differs, another reading of the
// specification, and the behaviour before the specification.
const (
	// VariantKube calls Kubernetes' scheduler kube-scheduler, as all of the specification's examples do, and also
	// accepts default-scheduler. It is the default.
	VariantKube = "kube-scheduler"
	// VariantDefault calls it only default-scheduler, names the field of the default defaultProfileName, and ignores
	// unknown fields, as ai-dynamo/grove does.
	VariantDefault = "default-scheduler"
	// VariantUnnamedFollow lets a clique without schedulerName follow the cliques that have one. The default backend
	// applies only if no clique has one.
	VariantUnnamedFollow = "unnamed-cliques-follow"
	// VariantBefore creates PodGangs after their Pods and without conditions, as before GREP-375.
	VariantBefore = "before-grep-375"
)

// Variants lists the variants.
func Variants() []string {
	return []string{VariantKube, VariantDefault, VariantUnnamedFollow, VariantBefore}
}

// Options describe where the simulator runs and how it behaves.
type Options = operator.Options

// Builtin are the operator's own backends.
func Builtin() backends.Factories {
	return backends.Factories{config.DefaultScheduler: backends.NewKube, config.KAIScheduler: backends.NewKAI}
}

// Run installs the API and the webhooks, and serves and reconciles until the context ends. It survives a restart of the
// API server. The configuration is an OperatorConfiguration in YAML; if it is empty, the defaults apply. Run returns an
// error only if the options or the configuration are wrong, or if a backend cannot be initialized. It logs any other
// error and tries again.
func Run(ctx context.Context, o Options) error {
	return RunWith(ctx, o, Builtin())
}

// RunWith is like Run, but with other backends than the operator's own.
func RunWith(ctx context.Context, o Options, factories backends.Factories) error {
	b, err := newBehaviour(o.Variant, o.Faults, o.Liberties)
	b.Liberties = b.Liberties.Noting(o.Taken)
	if err != nil {
		return err
	}
	loaded, err := b.load(b.dialect(factories.Names()), o.Config)
	if err != nil {
		return b.reworded(err)
	}
	authority, err := operator.Authority(o.CertDir)
	if err != nil {
		return err
	}
	o.RESTConfig = operator.Unthrottled(o.RESTConfig)
	s := &simulation{Options: o, behaviour: b, authority: authority, config: loaded, factories: b.spoil(factories)}
	return operator.Run(ctx, o.Logger, s.once)
}

// simulation is one run of the simulator.
type simulation struct {
	Options
	behaviour behaviour
	authority []byte
	config    *config.OperatorConfiguration
	factories backends.Factories
	// registry contains the backends. It is nil until they are initialized, which happens only once.
	registry *backends.Registry
}

// once initializes the backends, installs everything, and serves until the context or the manager ends.
func (s *simulation) once(ctx context.Context) error {
	if s.registry == nil {
		if err := s.initialize(); err != nil {
			return err
		}
	}
	if err := s.install(ctx); err != nil {
		return err
	}
	return s.behaviour.Liberties.Manage(ctx, s.manager)
}
