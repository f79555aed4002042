package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/load"
	"github.com/rehearse-dev/rehearse/harness/readback"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// readBack reads what the load wrote, if that is possible now, and compares it with what the API server acknowledged.
func (a *scenarioLoads) readBack(ctx context.Context, l *stepLoad) (readback.Found, error) {
	if len(l.kept) == 0 {
		return readback.Found{}, nil
	}
	if len(a.run.down) > 0 {
		a.owed = append(a.owed, l)
		return readback.Found{Later: true, Objects: len(l.kept)}, nil
	}
	found, err := l.kept.Find(ctx, readback.Source{
		Client: a.run.client.Resource(l.kind.Resource), Stream: l.stream, Since: a.run.timeline.from,
		Began: l.began,
	})
	if err != nil {
		return found, fmt.Errorf("what load %q wrote could not be read back: %w", l.Name, err)
	}
	return found, nil
}

// checkOwed reads back the acknowledged writes that could not be read while a component was down.
func (a *scenarioLoads) checkOwed(ctx context.Context, step scenarios.Step, r result) result {
	ctx, cancel := context.WithTimeout(ctx, a.run.timeout(step, a.run.shared.StepTimeout))
	defer cancel()
	owed, problems := a.owed, r.Each()
	a.owed = nil
	for _, l := range owed {
		back, err := a.readBack(ctx, l)
		said := fmt.Sprintf("load %q of an earlier step%s", l.Name, back)
		r.Evidence = strings.TrimPrefix(r.Evidence+"\n"+said, "\n")
		if err != nil {
			r.Status, r.Message = worse(r.Status, reports.Error), strings.TrimPrefix(r.Message+"\n"+err.Error(), "\n")
			problems = append(problems, problem(reports.Error, err.Error()))
		}
		problems = append(problems, lostOf(l, back)...)
		if len(back.Lost) > 0 {
			r.Status = reports.Failed
			r.Message = strings.TrimPrefix(r.Message+"\n"+said+"\n  "+strings.Join(back.Problems(), "\n  "), "\n")
		}
	}
	r.Problems = problems
	return r
}

// unread returns why the acknowledged writes of some loads were never read back; "" if all were.
func (a *scenarioLoads) unread() string {
	if len(a.owed) == 0 {
		return ""
	}
	var names []string
	for _, l := range a.owed {
		names = append(names, fmt.Sprintf("%q", l.Name))
	}
	return fmt.Sprintf("what load %s wrote was never read back, since the API server did not answer again; restart what "+
		"was killed, or add a transition", strings.Join(names, ", "))
}

// worse returns b if a is passed, and a otherwise.
func worse(a, b reports.Status) reports.Status {
	if a == reports.Passed {
		return b
	}
	return a
}

// judge stops the loads and judges them, together with the result of the step's own action.
func (d *during) judge(ctx context.Context, step scenarios.Step, r result) result {
	s := d.run
	r.acted = r.Status == reports.Passed
	limited, cancel := context.WithTimeout(ctx, s.timeout(step, s.shared.StepTimeout)+servedAgain)
	defer cancel()
	var failed, undecided, evidence []string
	all := r.Each()
	figures := map[string]any{}
	for _, l := range d.loads {
		record := l.running.Stop()
		s.removal.made = append(s.removal.made, l.made...)
		summary, problems := record.String(), l.problems(record)
		back, err := s.loads.readBack(limited, l)
		if err != nil {
			undecided = append(undecided, err.Error())
		}
		summary += back.String()
		all = append(append(all, l.each(record, problems)...), lostOf(l, back)...)
		problems = append(problems, back.Problems()...)
		undecided = append(undecided, l.undecided(record)...)
		if len(problems) > 0 {
			failed = append(failed, summary+"\n  "+strings.Join(problems, "\n  "))
		}
		evidence = append(evidence, strings.Join(append([]string{summary}, record.Details()...), "\n  "))
		figures[l.Name] = figuresOf(record, len(back.Lost))
	}
	if ctx.Err() != nil {
		// A load drops the answers that come after this moment, so its record may lack a failure.
		undecided = append(undecided, "the loads were cut short")
	}
	if r.values == nil {
		r.values = map[string]any{}
	}
	r.values["loads"] = figures
	r.Evidence = strings.TrimPrefix(r.Evidence+"\n"+strings.Join(evidence, "\n"), "\n")
	if r.Status == reports.Error {
		return r // that error explains the results of the loads
	}
	switch {
	case len(failed) > 0:
		r.Status = reports.Failed
	case len(undecided) > 0 && r.Status == reports.Passed:
		r.Status = reports.Error
	}
	r.Message = strings.TrimPrefix(strings.Join(append([]string{r.Message}, append(failed, undecided...)...), "\n"), "\n")
	for _, text := range undecided {
		all = append(all, problem(reports.Error, text))
	}
	r.Problems = all // also a single one, since the message and the evidence are about everything else, too
	return r
}

// each returns the problems of the load one by one. A single one has the summary and the details of the load.
func (l *stepLoad) each(record load.Record, problems []string) []reports.Outcome {
	var all []reports.Outcome
	for _, text := range problems {
		all = append(all, problem(reports.Failed, fmt.Sprintf("load %q: %s", l.Name, text)))
	}
	if len(all) == 1 {
		all[0].Message = record.String() + "\n  " + problems[0]
		all[0].Evidence = strings.Join(record.Details(), "\n")
	}
	return all
}

// lostOf returns the lost writes of the load as problems, one by one.
func lostOf(l *stepLoad, found readback.Found) []reports.Outcome {
	var all []reports.Outcome
	for _, lost := range found.Lost {
		all = append(all, problem(reports.Failed, fmt.Sprintf("load %q: an acknowledged write is lost: %s", l.Name, lost)))
	}
	return all
}

// problems returns what makes the step fail, except lost writes.
func (l *stepLoad) problems(record load.Record) []string {
	problems := record.Beyond(l.Allowed)
	want := "accepted"
	if l.Expect != nil {
		want = "rejected as they should be"
	}
	if record.Unexpected > 0 {
		problems = append(problems, fmt.Sprintf("%d of %d requests were not %s", record.Unexpected, record.Sent, want))
	}
	if l.down.Load() && l.unsent.Load() == nil && record.StoodStill == 0 {
		problems = append(problems, fmt.Sprintf("no request was answered within %s after the step's action",
			l.patience()))
	}
	return problems
}

// undecided returns why the load does not show whether the step passes.
func (l *stepLoad) undecided(record load.Record) []string {
	var reasons []string
	unsent := l.unsent.Load()
	if unsent != nil {
		reasons = append(reasons, (*unsent).Error())
	}
	if l.late.Load() {
		reasons = append(reasons, "the load got no answer before the step's action began")
	}
	if l.down.Load() && unsent == nil && record.StoodStill > 0 {
		reasons = append(reasons, fmt.Sprintf("the load got no answer within %s after the step's action, but this machine "+
			"stood still for %s", l.patience(), record.StoodStill.Round(time.Millisecond)))
	}
	if text := record.Undecided(l.Allowed); text != "" {
		reasons = append(reasons, text)
	}
	return reasons
}

// figuresOf returns the values that outputs can use. Times are in seconds.
func figuresOf(r load.Record, lost int) map[string]any {
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	return map[string]any{
		"sent": int64(r.Sent), "accepted": int64(r.Accepted), "rejected": int64(r.Rejected), "failed": int64(r.Failed),
		"lost":   int64(lost),
		"outage": seconds(r.Longest), "p50": seconds(r.Latency(50)), "p99": seconds(r.Latency(99)),
		"max": seconds(r.Latency(100)),
	}
}
