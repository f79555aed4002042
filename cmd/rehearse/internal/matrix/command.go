// Package matrix is the command that runs scenarios on every version of a system and of Kubernetes.
package matrix

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/matrix"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// settings are the command's flags.
type settings struct {
	cli.ProviderFlags
	suites             builtin.Suites
	system             string
	versions, releases []string
	up                 bool
	focus, label       string
	execute            harness.Options
	session.RepeatFlag
	session.ShardFlags
}

// Command runs a matrix.
func Command(all builtin.Suites) *cobra.Command {
	s := settings{suites: all}
	command := &cobra.Command{
		Use:   "matrix --system NAME[=FILE] --versions A,B --kubernetes 1.33-1.37 SCENARIOS...",
		Short: "Run scenarios on every version of a system and of Kubernetes",
		Long: `Matrix runs each scenario on each version of a system and on each version of Kubernetes. Each cell of
the matrix shows the verdict of a scenario with its reason, or why it was not tested. The report
folder contains matrix.json, matrix.md and matrix.html, and the reports of the run.

The scenarios are adapted to each cell. A scenario that starts on 1.34 and goes to 1.35 goes from
1.36 to 1.37 in a cell of 1.36. If it changes the version of the system, it goes to the next one of
--versions. A cell without such a next version is not tested, and says so.

--system NAME uses the definition in the scenarios; NAME=FILE.yaml uses that of a file.

A cell that cannot be planned, for example because its version does not exist or cannot be built, is
untested with the reason. The other cells run. All versions of the system are built first, also those
of other shards: rehearse fetch builds them in advance.

--repeat N runs the matrix N times. A cell whose verdicts differ is unstable, which is not passed.
Each run has its own folder in the report folder (run-1, run-2, ...).

--shard 2/5 runs only a part of the matrix; rehearse merge merges all parts into one matrix.

Exit codes: 0 every tested cell passed, or failed as known; 1 a cell failed, or is unstable; 2 the
input is wrong, or no cell can be tested; 3 a cell could not be planned or judged; 130 interrupted.`,
		Example: `  rehearse matrix --system gatekeeper --versions v3.17.0,v3.23.1 --kubernetes 1.33-1.37 examples/operators/gatekeeper
  rehearse matrix --system lws=lws.yaml --versions v0.7.0,v0.8.0 --kubernetes 1.34,1.36 --up my-scenarios
  rehearse matrix --system lws --versions v0.8.0 --kubernetes 1.36 --repeat 10 my-scenarios
  rehearse matrix --system lws --versions v0.7.0,v0.8.0 --kubernetes 1.33-1.37 --shard 1/2 my-scenarios
  rehearse matrix diff last/matrix.json rehearse-report/matrix.json`,
		Args: cli.Named("a file, a folder or a glob of scenarios"),
		RunE: func(command *cobra.Command, paths []string) error { return s.run(command, paths) },
	}
	set := command.Flags()
	s.ProviderFlags.AddTo(command)
	set.StringVar(&s.system, "system", "", "the system whose versions are compared: NAME, or NAME=FILE.yaml")
	set.StringSliceVar(&s.versions, "versions", nil, "versions of the system, from the oldest to the newest")
	set.StringSliceVar(&s.releases, "kubernetes", nil,
		"versions of Kubernetes, from the oldest to the newest: 1.34,1.36.3, or a range of minors, 1.33-1.37")
	set.BoolVar(&s.up, "up", false, "one cluster for each version of the system, which goes up through the versions of "+
		"Kubernetes; a scenario with transitions of its own has its own cluster (default: the cluster of a cell starts with "+
		"the versions of the cell)")
	cli.OnceVar(set, &s.focus, "focus", "only scenarios whose name matches this regular expression")
	cli.OnceVar(set, &s.label, "label", "only scenarios whose labels satisfy this expression")
	s.ShardFlags.AddTo(command)
	s.RepeatFlag.AddTo(command, "run the matrix that many times: a cell whose verdicts differ is "+
		"unstable, which is not passed")
	session.AddTo(command, &s.execute, "folder for the reports and for what failed scenarios leave")
	command.AddCommand(diffCommand())
	return command
}

// axes returns the axes of the matrix that the flags ask for.
func (s *settings) axes() (matrix.Axes, error) {
	axes := matrix.Axes{Versions: s.versions, Up: s.up}
	var err error
	if axes.System, axes.Definition, err = cli.NamedSystem(s.system); err != nil {
		return axes, err
	}
	if len(s.versions) == 0 {
		return axes, fmt.Errorf("--versions: name the versions of %s", axes.System)
	}
	if axes.Kubernetes, err = matrix.ParseKubernetes(s.releases); err != nil {
		return axes, fmt.Errorf("--kubernetes: %w", err)
	}
	return axes, nil
}

// definition returns --system with a file in the form that other commands have; none without a file.
func (s *settings) definition() []string {
	name, file, hasFile := strings.Cut(s.system, "=")
	if !hasFile {
		return nil
	}
	return []string{name + "=module:" + strings.TrimPrefix(file, "module:")}
}

// cells returns the axes and cells of the matrix that the flags and the arguments ask for.
func (s *settings) cells(command *cobra.Command, paths []string) (matrix.Axes, []matrix.Cell, error) {
	axes, err := s.axes()
	if err != nil {
		return axes, nil, err
	}
	set, err := scenarios.LoadWith(paths, command.InOrStdin())
	if err != nil {
		return axes, nil, err
	}
	selected, err := planning.Filter(set.Scenarios, s.focus, s.label)
	if err != nil {
		return axes, nil, err
	}
	cells, err := matrix.Cells(selected, axes)
	return axes, cells, err
}

// plan returns the plan of the run that the cells make.
func (s *settings) plan(command *cobra.Command, cells []matrix.Cell, progress clusters.Progress) (*harness.Plan,
	error,
) {
	provider, err := s.Provider(false, progress)
	if err != nil {
		return nil, err
	}
	options, err := session.PlanOptions(s.suites, progress)
	if err != nil {
		return nil, err
	}
	var set []*scenarios.Scenario
	for _, cell := range cells {
		if cell.Scenario != nil {
			set = append(set, cell.Scenario)
		}
	}
	if err := s.Put(&options, s.definition()...); err != nil {
		return nil, err
	}
	options.LeaveOut, options.BuildFirst = true, true
	plan, err := harness.NewPlan(command.Context(), provider, set, options)
	if err != nil {
		return nil, err
	}
	leaveOut(cells, plan.LeftOut)
	return plan, nil
}

// leaveOut marks the cells whose scenario cannot be planned, with the reason.
func leaveOut(cells []matrix.Cell, unplanned []planning.LeftOut) {
	for _, out := range unplanned {
		for i := range cells {
			if cells[i].Scenario == out.Scenario {
				cells[i].Scenario, cells[i].Why, cells[i].Unplanned = nil, out.Err.Error(), true
			}
		}
	}
}
