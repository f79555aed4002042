package writes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// mostProblems is how many of the writes' problems a message has; the evidence has the result of each write.
const mostProblems = 5

// contender is one of several writes at the same time.
type contender struct {
	name    string
	op      *operation
	request Request
	answer  answer
}

// AtOnce sends writes at the same time: it prepares each until it only needs to be sent, and then sends all. An
// expect applies to all writes together; without it, each step has its own. Several goroutines may report attempts.
func (w *Writer) AtOnce(ctx context.Context, requests []Request, expect *scenarios.ParallelExpect) Verdict {
	contenders, err := w.contenders(requests, expect)
	if err != nil {
		return Verdict{Status: reports.Error, Message: err.Error()}
	}
	line := newStart(len(contenders))
	var all sync.WaitGroup
	for _, c := range contenders {
		c.request.start = &place{start: line}
		all.Go(func() {
			defer c.request.start.leave()
			c.answer = w.decide(ctx, c.op, c.request)
		})
	}
	all.Wait()
	for _, c := range contenders {
		w.tell(c.op, c.answer)
		w.learn(c.op, c.answer)
	}
	if expect == nil {
		return w.compareEach(ctx, contenders)
	}
	return w.compareTogether(ctx, contenders, *expect)
}

func (w *Writer) contenders(requests []Request, expect *scenarios.ParallelExpect) ([]*contender, error) {
	var all []*contender
	for i, request := range requests {
		step := *request.Step
		if expect != nil {
			step.Expect = &scenarios.Expect{Rejected: &scenarios.Rejection{}}
			if expect.Rejected != nil {
				step.Expect.Rejected = expect.Rejected
			}
		}
		request.Step = &step
		op, err := w.prepare(request)
		if err != nil {
			return nil, fmt.Errorf("write %d of %d: %w", i+1, len(requests), err)
		}
		op.among, op.either = true, expect != nil
		if op.applies() {
			op.manager = request.Manager // otherwise it is unknown which of them changed something
		}
		c := &contender{name: fmt.Sprintf("write %d of %d", i+1, len(requests)), op: op, request: request}
		if step.Name != "" {
			c.name += " (" + step.Name + ")"
		}
		if attempt := request.Attempt; attempt != nil {
			c.request.Attempt = func(outcome string) { attempt(c.name + ": " + outcome) }
		}
		all = append(all, c)
	}
	for _, c := range all {
		c.op.rival = slices.ContainsFunc(all, func(other *contender) bool {
			return other != c && c.op.removes && other.op.removes && sameObject(c.op, other.op, w.Namespace)
		})
	}
	return all, nil
}

// sameObject reports whether two writes of a scenario with its own namespace are about the same object.
func sameObject(a, b *operation, own string) bool {
	return a.gvk.GroupKind() == b.gvk.GroupKind() && a.name == b.name &&
		cmp.Or(a.namespace, own) == cmp.Or(b.namespace, own)
}

// settled is the outcome of the contender's write. It is unknown after a rejection if an earlier attempt may have been
// accepted.
func (c *contender) settled() Outcome {
	if c.answer.outcome == Rejected && c.answer.doubt != "" {
		return Unknown
	}
	return c.answer.outcome
}

// problems are those of the contender's write.
func (c *contender) problems(v Verdict) []reports.Outcome {
	all := slices.Clone(v.outcome().Each())
	for i, one := range all {
		all[i].Message = c.name + ": " + one.Message
	}
	return all
}

// compareEach compares each write with what its own step expects.
func (w *Writer) compareEach(ctx context.Context, contenders []*contender) Verdict {
	together := Verdict{Status: reports.Passed}
	var wrong, evidence []string
	for _, c := range contenders {
		v := w.compare(ctx, c.op, c.request.Step, c.answer)
		together.Status = graver(together.Status, v.Status)
		if v.Status != reports.Passed {
			wrong = append(wrong, c.name+": "+v.Message)
			together.Problems = append(together.Problems, c.problems(v)...)
		}
		if v.Object != nil {
			together.Objects = append(together.Objects, v.Object)
		}
		evidence = append(evidence, c.name+": "+v.Evidence)
	}
	together.Message, together.Evidence = strings.Join(wrong, "\n"), strings.Join(evidence, "\n")
	together.Problems = reports.Several(together.Problems)
	return together
}

// compareTogether counts the accepted writes, and compares each of the others with how it should be rejected. A
// certain deviation fails the step, even if the outcome of other writes is unknown.
func (w *Writer) compareTogether(ctx context.Context, contenders []*contender,
	expect scenarios.ParallelExpect,
) Verdict {
	together := Verdict{Status: reports.Passed}
	var wrong, lines []string
	note := func(c *contender, v Verdict) {
		together.Status = graver(together.Status, v.Status)
		if v.Status != reports.Passed {
			wrong = append(wrong, c.name+": "+v.Message)
			together.Problems = append(together.Problems, c.problems(v)...)
		}
	}
	accepted, unknown := 0, 0
	for _, c := range contenders {
		switch c.settled() {
		case Accepted:
			accepted++
			bare := *c.request.Step
			bare.Expect = nil
			v := w.compare(ctx, c.op, &bare, c.answer)
			if v.Object != nil {
				together.Objects = append(together.Objects, v.Object)
			}
			note(c, v)
			lines = append(lines, fmt.Sprintf("%s: %s was accepted", c.name, c.op))
		case Rejected:
			note(c, w.compare(ctx, c.op, c.request.Step, c.answer))
			lines = append(lines, fmt.Sprintf("%s: %s was rejected: %s", c.name, c.op, describeStatus(c.answer.status)))
		case Unknown:
			unknown++
			note(c, w.compare(ctx, c.op, c.request.Step, c.answer))
			why := cmp.Or(c.answer.doubt, fmt.Sprint(c.answer.err))
			lines = append(lines, fmt.Sprintf("%s: %s: outcome unknown: %s", c.name, c.op, why))
		}
	}
	if problem := wrongNumber(*expect.Accepted, accepted, unknown, len(contenders)); problem != "" {
		together.Status = reports.Failed
		wrong = append([]string{problem}, wrong...)
		together.Problems = append(together.Problems, reports.Outcome{Status: reports.Failed, Message: problem})
	}
	together.Problems = reports.Several(together.Problems)
	counts := fmt.Sprintf("%d writes at the same time: %d accepted, %d rejected, %d unknown",
		len(contenders), accepted, len(contenders)-accepted-unknown, unknown)
	together.Evidence = counts + "\n" + strings.Join(lines, "\n")
	if more := len(wrong) - mostProblems; more > 0 {
		wrong = append(wrong[:mostProblems], fmt.Sprintf("and %d more", more))
	}
	if len(wrong) > 0 {
		together.Message = counts + "\n" + strings.Join(wrong, "\n")
	}
	return together
}

// wrongNumber says that the number of accepted writes can't be as wanted, whatever the unknown outcomes are; "" if it
// can.
func wrongNumber(want scenarios.Count, accepted, unknown, total int) string {
	for more := range unknown + 1 {
		if want.Holds(accepted+more, total) {
			return ""
		}
	}
	return fmt.Sprintf("%d of %d concurrent writes were accepted, but should have been %s", accepted, total,
		describeCount(want))
}

func describeCount(c scenarios.Count) string {
	switch {
	case c.All:
		return "all"
	case c.Min != nil && c.Max != nil && *c.Min == *c.Max:
		return fmt.Sprint(*c.Min)
	case c.Min != nil && c.Max != nil:
		return fmt.Sprintf("%d to %d", *c.Min, *c.Max)
	case c.Min != nil:
		return fmt.Sprintf("%d or more", *c.Min)
	default:
		return fmt.Sprintf("%d at most", *c.Max)
	}
}

// graver returns the graver status: a certain failure is one, whatever else is unknown.
func graver(a, b reports.Status) reports.Status {
	for _, status := range []reports.Status{reports.Failed, reports.Error} {
		if a == status || b == status {
			return status
		}
	}
	return reports.Passed
}
