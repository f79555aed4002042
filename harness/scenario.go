package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// scenarioRun is one scenario while it runs. Its steps run one after the other, so nothing in it needs a lock but what is said to.
type scenarioRun struct {
	*trackRun

	entry     *Entry
	scenario  *scenarios.Scenario
	namespace string
	client    dynamic.Interface
	writer    *writes.Writer
	known     []scenarios.KnownIssue

	// at is the place on the track's path.
	at      int
	outputs map[string]any
	// found is what came of the steps so far.
	found findings
	// made are the objects to be removed in the end, in the order in which they were made.
	made []writes.Made
	// touched are the kinds that the steps were about.
	touched []schema.GroupVersionKind
	// readings are the metrics that were read.
	readings []named
	// logs are the sizes of the components' log files when the scenario began.
	logs map[string]int64
	// spans are the times that steps judge when they are past, begun the steps that have begun, looked what was looked at.
	spans []*span
	// survivals are the surveys that survives steps judge.
	survivals []*survival
	begun     []assertions.Step
	begunAt   []time.Time
	looked    []history.Part
	// from is the number of the history's last change before the scenario began, at beginning.
	from      int64
	beginning time.Time
	// unsettled is what was written that is in force a moment later, and canaries how many were sent out to see when.
	unsettled map[unsettled]bool
	canaries  int
	// account is closed when the namespace's default ServiceAccount is there, or was waited for in vain.
	account <-chan struct{}
	// load is what goes on during the step that runs; nil mostly.
	load *during
	// down is the component that was killed and without which the API server gives no answers; "" while there is none. What the API server
	// acknowledged before is owed: it is read back when it answers again.
	down clusters.Component
	owed []*stepLoad
	// proof looks together after the refusals of the steps before until; sent are the steps that wait for it.
	proof *writes.Proof
	until int
	sent  []sent
}

func newScenarioRun(t *trackRun, entry *Entry) *scenarioRun {
	return &scenarioRun{
		trackRun: t, entry: entry, scenario: entry.Scenario, namespace: entry.Scenario.ID(),
		known:   applying(entry.Scenario, entry.Path(t.track)),
		outputs: map[string]any{}, found: findings{missing: map[string]string{}}, unsettled: map[unsettled]bool{},
		spans: spansOf(entry.Scenario),
	}
}

// run runs the steps until one ends the scenario, cleans up, and records what came of it. Nobody waits for the cleaning up.
func (s *scenarioRun) run(ctx context.Context) {
	s.Recorder.StartScenario(s.entry.result, s.namespace)
	s.logs = s.logSizes()
	s.from, s.beginning = s.history.Seq(), s.history.Now()
	verdict := s.steps(ctx)
	s.leave()
	s.closeSurvivals()
	s.cleanUp(ctx)
	verdict.StateGates = s.gatesSoFar()
	s.Recorder.FinishScenario(s.entry.result, verdict)
}

// steps runs the steps and returns what there is to say beyond them.
func (s *scenarioRun) steps(ctx context.Context) reports.Verdict {
	defer func() { s.proof.Close() }()
	if err := s.begin(ctx); err != nil {
		if interrupted(ctx) {
			return reports.Verdict{Status: reports.NotRun, Message: "interrupted: " + err.Error()}
		}
		return reports.Verdict{Status: reports.Error, Message: err.Error()}
	}
	for i, planned := range s.entry.steps {
		if ctx.Err() != nil {
			status := reports.Error
			if interrupted(ctx) {
				status = reports.NotRun
			}
			return s.stopped(ctx, status, why(ctx))
		}
		s.Recorder.StartStep(s.entry.result, planned, s.track.Path[s.at].String())
		s.hold(ctx, i)
		outcome := s.step(ctx, i)
		outcome.Outcome = s.unlessStopped(ctx, outcome.Outcome)
		if outcome.Status == reports.NotRun && ctx.Err() != nil {
			s.conclude(ctx, i, outcome)
			return s.stopped(ctx, reports.NotRun, outcome.Message)
		}
		if s.conclude(ctx, i, outcome) {
			break
		}
	}
	return s.verdict(ctx)
}

// unlessStopped is what came of a step, unless it came of it while the run was being stopped, or the cluster was breaking: that says nothing about the step.
func (s *scenarioRun) unlessStopped(ctx context.Context, outcome reports.Outcome) reports.Outcome {
	if outcome.Status == reports.Passed || ctx.Err() == nil {
		return outcome
	}
	status := reports.Error
	if interrupted(ctx) {
		status = reports.NotRun
	}
	outcome.Status, outcome.Message = status, why(ctx)+"\nwhat the step said then: "+outcome.Message
	return outcome
}

// begin makes the clients and the namespace.
func (s *scenarioRun) begin(ctx context.Context) error {
	client, err := dynamic.NewForConfig(writes.Configure(s.cluster.RESTConfig(), "rehearse/"+s.namespace))
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", s.cluster.Name(), err)
	}
	s.client = client
	s.writer = &writes.Writer{
		Client: client, Kinds: s.kinds, Namespace: s.namespace,
		Mismatch: func(want, got map[string]any) string { return matching.Diff(want, got) },
		Holds: func(step *scenarios.Step, object map[string]any) (bool, error) {
			vars := s.variables(step)
			vars["object"] = object
			return s.Expressions.WithContext(ctx).EvalBool(step.Expect.CEL, vars)
		},
		Blame: func(gvk schema.GroupVersionKind, path []any) string {
			teller, ok := s.provider.(clusters.GateTeller)
			if !ok {
				return ""
			}
			return teller.BlameForField(ctx, s.track.Path[s.at], gvk.Kind, path)
		},
		Wrote: func(made writes.Made) { s.made = append(s.made, made) },
	}
	return s.makeNamespace(ctx)
}

// variables of the step's expressions.
func (s *scenarioRun) variables(step *scenarios.Step) scenarios.Variables {
	vars := scenarios.Variables{
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

var errNoSuchComponent = errors.New("this provider's clusters can't do that")

func lacking(verb string, c clusters.Cluster) reports.Outcome {
	return reports.Outcome{Status: reports.Error, Message: fmt.Sprintf("%s on cluster %s: %v", verb, c.Name(), errNoSuchComponent)}
}
