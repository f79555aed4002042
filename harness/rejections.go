package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// rejections are consecutive steps that should be rejected. One proof checks them together afterwards.
type rejections struct {
	run *scenarioRun
	// proof checks the rejections of the steps before until. sent are the steps that wait for it.
	proof *writes.Proof
	until int
	sent  []sent
}

const (
	// worthAProof is how many rejections cost more to check one by one than together.
	worthAProof = 4
	// holdAtMost is how long the outcome of a step may stay open.
	holdAtMost = time.Second
)

// sent is a step that was done and is not recorded yet: it, or one before it, was rejected, and it is not checked yet
// whether it stored something.
type sent struct {
	step    int
	outcome result
	ended   time.Time
}

// inARow counts the consecutive steps from the i-th on that only create objects of one kind in one namespace and
// should be rejected.
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

// place returns the kind and the namespace of what a step creates, as far as they are known before it runs. The proof
// uses the evaluated ones.
func place(step scenarios.Step) string {
	metadata, _ := step.Create["metadata"].(map[string]any)
	// They may have any type, since they should be rejected.
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

// conclude records the outcome of a step, or holds it until it is proven together with the outcomes of the next
// steps. It reports whether the scenario ends with it. The first outcome that ends the scenario decides, as if the
// later steps had not been sent.
func (r *rejections) conclude(ctx context.Context, i int, outcome result) (over bool) {
	r.sent = append(r.sent, sent{i, outcome, time.Now()})
	if outcome.held && outcome.Status == reports.Passed && i+1 < r.until && time.Since(r.sent[0].ended) < holdAtMost {
		return false
	}
	return r.prove(ctx, i)
}

// prove proves and records the outcomes that wait, up to that of the i-th step. It reports whether the scenario ends
// with one of them.
func (r *rejections) prove(ctx context.Context, i int) (over bool) {
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
