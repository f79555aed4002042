package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// writeVerb serves each verb that sends a single write.
func writeVerb() verb { return verb{run: runWrite} }

func runWrite(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	ctx, cancel := context.WithTimeout(ctx, s.timeout(step, s.shared.StepTimeout))
	defer cancel()
	if bearsPods(step) {
		s.awaitAccount(ctx)
	}
	settled, err := s.settling.await(ctx, step)
	if err != nil {
		return failure(reports.Error, "%v", err)
	}
	v := s.writer.Do(ctx, writes.Request{
		Step:    &step,
		Manager: s.manager(fmt.Sprint(i + 1)),
		Attempt: s.attempts(i),
		Proof:   s.rejections.proof,
	})
	s.settling.note(step)
	r := result{
		Outcome: reports.Outcome{Status: v.Status, Message: v.Message, Evidence: v.Evidence + settled, Problems: v.Problems},
		held:    v.Held,
	}
	if v.Status != reports.Passed || v.Held {
		r.Request = writes.Body(&step)
	}
	if v.Object != nil {
		r.values = map[string]any{"object": v.Object}
		s.timeline.awaitTold(ctx, r.values)
	}
	return r
}

// bearsPods reports whether the step makes pods, or objects that make pods. These need the namespace's default
// ServiceAccount.
func bearsPods(step scenarios.Step) bool {
	made := step.Makes().Reference()
	group, _, _ := strings.Cut(made.APIVersion, "/")
	return made.Kind == "Pod" || made.Kind == "ReplicationController" || group == "apps" || group == "batch" ||
		served.IsCustom(made.APIVersion)
}
