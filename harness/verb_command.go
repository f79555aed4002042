package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/harness/programs"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func commandVerb() verb {
	return verb{
		run: runCommand, programs: true, asOthers: true,
		alone: func(step *scenarios.Step) string {
			if step.Command.Shared {
				return ""
			}
			return fmt.Sprintf("command %s may disturb other scenarios; set shared: true on the step if it does not",
				step.Command.Run[0])
		},
	}
}

// runCommand runs a program, once or until the result is as expected.
func runCommand(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	s.shared.kinds.ExpectMore()
	c := besideScenario(*step.Command, filepath.Dir(s.scenario.Position.File))
	ctx, cancel := context.WithTimeout(ctx, c.Within.Or(s.timeout(step, s.shared.StepTimeout)))
	defer cancel()
	if err := s.settling.quietly(ctx, step); err != nil {
		return failure(reports.Error, "%v", err)
	}
	return repeat(ctx, s.attempts(i), func() try {
		t := judgeProgram("command "+strings.Join(step.Command.Run, " "), c.Expect, programs.Run(ctx, c, environment(s, c)))
		t.final = t.final || c.Within == 0
		return t
	})
}

// besideScenario takes the program from the scenario's folder if its name is a relative path, and replaces
// $(SCENARIO_DIR) with that folder.
func besideScenario(c scenarios.Command, dir string) scenarios.Command {
	put := func(text string) string {
		const placeholder = "$(" + clusters.ScenarioDir + ")"
		return strings.ReplaceAll(clusters.WithFolder(dir, text), "$"+placeholder, placeholder)
	}
	c.Run = slices.Clone(c.Run)
	for i, text := range c.Run {
		c.Run[i] = put(text)
	}
	if len(c.Run) > 0 {
		c.Run[0] = clusters.ProgramBeside(dir, c.Run[0])
	}
	env := map[string]string{clusters.ScenarioDir: clusters.Folder(dir)}
	for name, text := range c.Env {
		env[name] = put(text)
	}
	c.Env, c.Stdin = env, put(c.Stdin)
	return c
}

// environment of a program: that of this process, with the cluster's kubeconfig and the scenario's namespace, and what
// the step adds.
func environment(s *scenarioRun, c scenarios.Command) []string {
	env := append(slices.Concat(s.shared.Environment, processes.NotInCluster()), "KUBECONFIG="+s.kubeconfig(),
		"NAMESPACE="+s.namespace, "REHEARSE_RUN_LABEL="+RunLabel+"="+s.shared.id)
	for _, name := range clusters.SortedKeys(c.Env) {
		env = append(env, name+"="+c.Env[name])
	}
	return env
}

// judgeProgram compares how a program ended with what is expected of it.
func judgeProgram(title string, wanted *scenarios.CommandExpect, e programs.Ended) try {
	t := try{
		evidence: e.String(),
		values:   map[string]any{"stdout": e.Stdout.String(), "stderr": e.Stderr.String()},
	}
	if e.Err != nil {
		t.undecided, t.final = true, e.Missing
		t.problem = fmt.Sprintf("%s: %v\n%s", title, e.Err, e)
		return t
	}
	differs, undecided := e.Compare(wanted)
	if problem := differs + undecided; problem != "" {
		t.problem, t.undecided = fmt.Sprintf("%s: %s\n%s", title, problem, e), differs == ""
	}
	return t
}
