package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/artifacts"
	"github.com/rehearse-dev/rehearse/harness/knownissues"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

func lacking(verb string, c clusters.Cluster) reports.Outcome {
	return reports.Outcome{Status: reports.Error, Message: fmt.Sprintf("%s on cluster %s: %v", verb, c.Name(),
		errNoSuchComponent)}
}

// scenarioRun is one scenario while it runs. Its steps run one after the other, so only what says so needs a lock.
type scenarioRun struct {
	// shared is what it shares with the other scenarios of its track.
	shared *trackRun

	entry     *planning.Entry
	scenario  *scenarios.Scenario
	namespace string
	client    dynamic.Interface
	writer    *writes.Writer
	// via is the API server that client and writer reach, one of several; nil for the load balancer.
	via *clusters.Server

	// at is the place on the track's path.
	at int
	// down are the killed components without which the API server does not answer.
	down    map[clusters.Component]bool
	outputs map[string]any
	// readings are the metrics that were read.
	readings []named
	// account is closed when the namespace's default ServiceAccount exists, or the wait for it has timed out.
	account <-chan struct{}

	timeline   *timeline
	lookBack   *lookBack
	survivals  *survivals
	settling   *settling
	loads      *scenarioLoads
	rejections *rejections
	found      *findings
	evidence   *evidence
	removal    *removal
}

func newScenarioRun(t *trackRun, entry *planning.Entry) *scenarioRun {
	s := &scenarioRun{
		shared: t, entry: entry, scenario: entry.Scenario, namespace: entry.Scenario.ID(),
		down: map[clusters.Component]bool{}, outputs: map[string]any{},
	}
	s.timeline = &timeline{run: s, spans: spansOf(entry.Scenario, asksTheBalancer)}
	s.lookBack = &lookBack{run: s}
	s.survivals = &survivals{run: s}
	s.settling = &settling{run: s, unsettled: map[unsettled]bool{}}
	s.loads = &scenarioLoads{run: s}
	s.rejections = &rejections{run: s}
	s.found = &findings{
		run: s, issues: knownissues.Applying(entry.Scenario, entry.Path(t.track)),
		missing: map[string]string{},
	}
	s.evidence = &evidence{run: s}
	s.removal = &removal{run: s}
	return s
}

// run runs the steps until one ends the scenario, cleans up, and records the result. No other scenario waits for the
// cleanup.
func (s *scenarioRun) run(ctx context.Context) {
	s.shared.Recorder.StartScenario(s.entry.Report, s.namespace)
	s.evidence.logs = artifacts.Logs(s.shared.logFiles()).Sizes()
	s.timeline.from, s.timeline.beginning = s.shared.history.Seq(), s.shared.history.Now()
	verdict := s.steps(ctx)
	s.shared.leave()
	s.survivals.close()
	s.removal.cleanUp(ctx)
	verdict.StateGates = s.shared.gates.soFar(s.entry, s.at)
	s.shared.Recorder.FinishScenario(s.entry.Report, verdict)
}

// steps runs the steps, and returns what to report beyond them.
func (s *scenarioRun) steps(ctx context.Context) reports.Verdict {
	defer func() { s.rejections.proof.Close() }()
	if err := s.connect(ctx); err != nil {
		if interrupted(ctx) {
			return reports.Verdict{Status: reports.NotRun, Message: "interrupted: " + err.Error()}
		}
		return reports.Verdict{Status: reports.Error, Message: err.Error()}
	}
	for i, planned := range s.entry.Steps {
		if ctx.Err() != nil {
			if s.rejections.prove(ctx, i) {
				break
			}
			status := reports.Error
			if interrupted(ctx) {
				status = reports.NotRun
			}
			return s.found.stopped(ctx, status, why(ctx))
		}
		s.shared.Recorder.StartStep(s.entry.Report, planned, s.shared.track.Path[s.at].String())
		s.rejections.begin(ctx, i)
		outcome := s.step(ctx, i)
		outcome.Outcome = unlessStopped(ctx, outcome.Outcome)
		if outcome.Status == reports.NotRun && ctx.Err() != nil {
			s.rejections.conclude(ctx, i, outcome)
			return s.found.stopped(ctx, reports.NotRun, outcome.Message)
		}
		if s.rejections.conclude(ctx, i, outcome) {
			break
		}
	}
	if why := s.loads.unread(); why != "" {
		return s.found.stopped(ctx, reports.Error, why)
	}
	return s.found.verdict(ctx)
}

// unlessStopped returns the outcome of a step. A failure while the run was being stopped or the cluster was breaking
// says nothing about the step: it becomes not run, or an error. Then why it was stopped is its only problem, so that a
// known issue of the step cannot explain it by what the step said.
func unlessStopped(ctx context.Context, outcome reports.Outcome) reports.Outcome {
	if outcome.Status == reports.Passed || ctx.Err() == nil {
		return outcome
	}
	status := reports.Error
	if interrupted(ctx) {
		status = reports.NotRun
	}
	outcome.Problems = []reports.Outcome{{Status: status, Message: why(ctx)}}
	outcome.Status, outcome.Message = status, why(ctx)+"\nwhat the step said then: "+outcome.Message
	return outcome
}

// connect makes the clients and the namespace.
func (s *scenarioRun) connect(ctx context.Context) error {
	if err := s.reach(ctx, s.shared.cluster.RESTConfig()); err != nil {
		return err
	}
	return s.makeNamespace(ctx)
}

// reach makes the clients.
func (s *scenarioRun) reach(ctx context.Context, config *rest.Config) error {
	client, err := s.clientOf(config)
	if err != nil {
		return err
	}
	s.client = client
	s.writer = &writes.Writer{
		Client: client, Kinds: s.shared.kinds, Namespace: s.namespace,
		Differences: func(want, got map[string]any) []string { return matching.Differences(want, got) },
		Holds: func(step *scenarios.Step, object map[string]any) (bool, error) {
			vars := s.variables(step)
			vars["object"] = object
			return s.shared.Expressions.WithContext(ctx).EvalBool(step.Expect.CEL, vars)
		},
		Blame: func(gvk schema.GroupVersionKind, path []any) string {
			teller, ok := s.shared.provider.(clusters.GateTeller)
			if !ok {
				return ""
			}
			return teller.BlameForField(ctx, s.shared.track.Path[s.at], gvk.Kind, path)
		},
		Wrote: func(made writes.Made) { s.removal.made = append(s.removal.made, made) },
	}
	return nil
}

// variables of the step's expressions.
func (s *scenarioRun) variables(step *scenarios.Step) expressions.Variables {
	vars := expressions.Variables{
		"namespace": s.namespace,
		"scenario":  map[string]string{"id": s.scenario.ID(), "name": s.scenario.Metadata.Name},
		"case":      s.scenario.CaseOf(step),
		"outputs":   s.outputs,
	}
	if step.Index != nil {
		vars["index"] = *step.Index
	}
	return vars
}

// timeout of a step.
func (s *scenarioRun) timeout(step scenarios.Step, fallback time.Duration) time.Duration {
	return step.Timeout.Or(s.scenario.Spec.Timeout.Or(fallback))
}

var errNoSuchComponent = errors.New("clusters of this provider do not support that")
