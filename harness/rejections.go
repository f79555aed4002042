package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// rejections are steps in a row that should be rejected, after which one proof looks together.
type rejections struct {
	run *scenarioRun
	// proof looks after the rejections of the steps before until; sent are the steps that wait for it.
	proof *writes.Proof
	until int
	sent  []sent
}

const (
	// worthAProof is how many rejections cost more to look after one by one than together.
	worthAProof = 4
	// holdAtMost is how long what came of a step may stay open.
	holdAtMost = time.Second
)

// sent is a step that was done and is not recorded yet: it, or one before it, was rejected, and nobody has looked
// whether it stored something.
type sent struct {
	step    int
	outcome result
	ended   time.Time
}

// inARow is how many steps from the i-th on are creations in one place that should be rejected, and nothing else.
func (r *rejections) inARow(i int) int {
	steps := r.run.scenario.Spec.Steps
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

// place is the kind and the namespace of what a step creates, as far as they are known before it runs: who proves it
// looks at what they came to be.
func place(step scenarios.Step) string {
	metadata, _ := step.Create["metadata"].(map[string]any)
	// whatever they are: they are to be rejected
	return fmt.Sprint(step.Create["apiVersion"], step.Create["kind"], metadata["namespace"])
}

// begin begins a proof of the rejections that follow from the i-th step on, if there are enough of them.
func (r *rejections) begin(ctx context.Context, i int) {
	if i < r.until {
		return
	}
	r.proof.Close()
	r.proof = nil
	if n := r.inARow(i); n >= worthAProof {
		r.proof, r.until = r.run.writer.NewProof(ctx, n), i+n
	}
}

// conclude records what came of a step, or leaves that until it is proven together with the ones after it, and says
// whether the scenario ends with it. The first of several that ends the scenario decides, as if the others had not been
// sent.
func (r *rejections) conclude(ctx context.Context, i int, outcome result) (over bool) {
	r.sent = append(r.sent, sent{i, outcome, time.Now()})
	if outcome.held && outcome.Status == reports.Passed && i+1 < r.until && time.Since(r.sent[0].ended) < holdAtMost {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, r.run.timeout(r.run.scenario.Spec.Steps[i], r.run.shared.StepTimeout))
	proven := r.proof.Prove(limited)
	cancel()
	all := r.sent
	r.sent = nil
	for _, one := range all {
		if one.outcome.held {
			v := proven[0]
			proven = proven[1:]
			if v.Status != reports.Passed {
				one.outcome.Outcome = unlessStopped(ctx, reports.Outcome{
					Status: v.Status, Message: v.Message,
					Evidence: v.Evidence, Request: one.outcome.Request,
				})
			}
		}
		one.outcome.Ended = one.ended
		if over {
			r.run.shared.Recorder.FinishStep(r.run.entry.Report, r.run.entry.Steps[one.step], reports.Outcome{
				Status: reports.NotRun, Message: "it was sent before the failure of an earlier step was known",
				Ended: one.ended,
			})
			continue
		}
		over = r.run.found.record(ctx, one.step, one.outcome)
	}
	return over
}
