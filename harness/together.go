package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

const (
	// worthAProof is how many refusals cost more to look after one by one than together.
	worthAProof = 4
	// holdAtMost is how long what came of a step may stay open.
	holdAtMost = time.Second
)

// sent is a step that was done and is not recorded yet: it, or one before it, was refused, and nobody has looked whether it stored something.
type sent struct {
	step    int
	outcome result
	ended   time.Time
}

// refusals is how many steps from the i-th on are creations in one place that should be refused, and nothing else.
func (s *scenarioRun) refusals(i int) int {
	steps := s.scenario.Spec.Steps
	n := 0
	for _, step := range steps[i:] {
		alike := step.Create != nil && step.Expect != nil && step.Expect.Rejected != nil && place(step) == place(steps[i])
		if !alike {
			break
		}
		n++
	}
	return n
}

// place is the kind and the namespace of what a step creates, as far as they are known before it runs: who proves it looks at what they came to be.
func place(step scenarios.Step) string {
	metadata, _ := step.Create["metadata"].(map[string]any)
	return fmt.Sprint(step.Create["apiVersion"], step.Create["kind"], metadata["namespace"]) // whatever they are: they are to be refused
}

// hold begins a proof of the refusals that follow from the i-th step on, if there are enough of them.
func (s *scenarioRun) hold(ctx context.Context, i int) {
	if i < s.until {
		return
	}
	s.proof.Close()
	s.proof = nil
	if n := s.refusals(i); n >= worthAProof {
		s.proof, s.until = s.writer.NewProof(ctx, n), i+n
	}
}

// conclude records what came of a step, or leaves that until it is proven together with the ones after it, and says whether the scenario ends with it.
// The first of several that ends the scenario decides, as if the others had not been sent.
func (s *scenarioRun) conclude(ctx context.Context, i int, outcome result) (over bool) {
	s.sent = append(s.sent, sent{i, outcome, time.Now()})
	if outcome.held && outcome.Status == reports.Passed && i+1 < s.until && time.Since(s.sent[0].ended) < holdAtMost {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout(s.scenario.Spec.Steps[i], s.StepTimeout))
	proven := s.proof.Prove(limited)
	cancel()
	all := s.sent
	s.sent = nil
	for _, one := range all {
		if one.outcome.held {
			v := proven[0]
			proven = proven[1:]
			if v.Status != reports.Passed {
				one.outcome.Outcome = s.unlessStopped(ctx, reports.Outcome{Status: v.Status, Message: v.Message, Evidence: v.Evidence})
			}
		}
		one.outcome.Ended = one.ended
		if over {
			s.Recorder.FinishStep(s.entry.result, s.entry.steps[one.step], reports.Outcome{
				Status: reports.NotRun, Message: "it was sent before it was known that an earlier step had not passed", Ended: one.ended,
			})
			continue
		}
		over = s.record(ctx, one.step, one.outcome)
	}
	return over
}
