package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/programs"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func execVerb() verb {
	return verb{
		run: runExec, needs: always(clusters.AbilityExec), programs: true, asOthers: true,
		alone: func(step *scenarios.Step) string {
			if step.Exec.Shared {
				return ""
			}
			return fmt.Sprintf("exec in pod %s may disturb other scenarios; set shared: true on "+
				"the step if it does not",
				step.Exec.Pod)
		},
	}
}

// runExec runs a program in a pod, once or until the result is as expected. If the program could not be started, it
// is always tried again, as a write would be.
func runExec(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	s.shared.kinds.ExpectMore()
	e := *step.Exec
	executor, ok := s.shared.cluster.(clusters.PodExecutor)
	if !ok {
		return result{Outcome: lacking("exec", s.shared.cluster)}
	}
	ctx, cancel := context.WithTimeout(ctx, e.Within.Or(s.timeout(step, s.shared.StepTimeout)))
	defer cancel()
	if err := s.settling.quietly(ctx, step); err != nil {
		return failure(reports.Error, "%v", err)
	}
	if e.Namespace == "" {
		e.Namespace = s.namespace
	}
	title := fmt.Sprintf("exec in pod %s/%s: %s", e.Namespace, e.Pod, strings.Join(e.Run, " "))
	return repeat(ctx, s.attempts(i), func() try {
		r, started := runInPod(ctx, executor, e)
		t := judgeProgram(title, e.Expect, r)
		t.final = t.final || e.Within == 0 && started
		return t
	})
}

// runInPod runs the program, and also reports whether it may have been started.
func runInPod(ctx context.Context, executor clusters.PodExecutor, e scenarios.Exec) (ended programs.Ended,
	started bool,
) {
	var stdin io.Reader
	if e.Stdin != "" {
		stdin = strings.NewReader(e.Stdin)
	}
	stdout, stderr, code, err := executor.ExecInPod(ctx, e.Namespace, e.Pod, e.Container, e.Run, stdin)
	ended = programs.Ended{Code: code, Stdout: programs.Limited(stdout), Stderr: programs.Limited(stderr), Err: err}
	return ended, !errors.Is(err, clusters.ErrNotStarted)
}
