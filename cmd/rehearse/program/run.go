package program

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// selection is which scenarios run, and on which clusters.
type selection struct {
	cli.ProviderFlags
	suites       builtin.Suites
	focus, label string
	// planes is the number of control planes of scenarios that do not set it.
	planes      int
	noSharing   bool
	noSnapshots bool
	systems     []string
	session.ShardFlags
}

func (s *selection) add(command *cobra.Command) {
	s.ProviderFlags.AddTo(command)
	cli.OnceVar(command.Flags(), &s.focus, "focus", "only scenarios whose name matches this regular expression")
	cli.OnceVar(command.Flags(), &s.label, "label", "only scenarios whose labels satisfy this expression, as Ginkgo's "+
		"--label-filter: 'kep:5311 && !slow:minutes'")
	command.Flags().StringArrayVar(&s.systems, "system", nil,
		"replace a system of the scenarios: NAME=process:FILE, NAME=module:FILE, NAME=manifests:FILE (a YAML file "+
			"that defines it), NAME/VARIANT=... for a variant that scenarios need; or set faults or liberties of its "+
			"simulator: NAME=faults:A,B, NAME=liberties:A,B")
	command.Flags().IntVar(&s.planes, "control-planes", 0,
		"default number of control planes, for scenarios that set none (default 1)")
	command.Flags().BoolVar(&s.noSharing, "no-sharing", false, "run each scenario on a separate cluster")
	command.Flags().BoolVar(&s.noSnapshots, "no-snapshots", false,
		"create every cluster from scratch, without snapshots of other clusters' first states")
	s.ShardFlags.AddTo(command)
}

// plan loads, selects and plans scenarios. It finds all mistakes in the input.
func (s *selection) plan(command *cobra.Command, paths []string, keep bool,
	progress func(string, ...any),
) (*harness.Plan, error) {
	set, err := scenarios.LoadWith(paths, command.InOrStdin())
	if err != nil {
		return nil, err
	}
	selected, err := planning.Filter(set.Scenarios, s.focus, s.label)
	if err != nil {
		return nil, err
	}
	options, err := session.PlanOptions(s.suites, progress)
	if err != nil {
		return nil, err
	}
	if err := s.Put(&options, s.systems...); err != nil {
		return nil, err
	}
	provider, err := s.Provider(keep, progress)
	if err != nil {
		return nil, err
	}
	if selected, err = override(selected, s.systems); err != nil {
		return nil, err
	}
	if err := clusters.CheckControlPlanes(s.planes); err != nil {
		return nil, fmt.Errorf("--control-planes: %w", err)
	}
	options.NoSharing, options.ControlPlanes, options.Snapshots = s.noSharing, s.planes, !s.noSnapshots
	return harness.NewPlan(command.Context(), provider, selected, options)
}

func newRunCommand(all builtin.Suites) *cobra.Command {
	what := selection{suites: all}
	var options harness.Options
	command := &cobra.Command{
		Use:   "run FILE|FOLDER|GLOB|-...",
		Short: "Run scenarios and write the reports",
		Long: `Run starts the clusters that the scenarios need, runs the scenarios on them, and writes report.html,
junit.xml and run.json to the report folder. "-" reads scenarios from standard input.

Exit codes: 0 all that ran passed, or failed only with a known issue; 1 a scenario failed; 2 the
input is wrong (including rejected credentials of an existing cluster), or no scenario can run;
3 something could not be judged because the cluster or Rehearse failed, or an existing cluster
cannot be reached; 130 interrupted.`,
		Example: `  rehearse run scenarios/kubernetes
  rehearse run --focus rollback --keep scenarios/kubernetes
  rehearse run --system lws=process:my-lws.yaml scenarios/leaderworkerset
  rehearse run --system lws=process:my-lws.yaml --system lws/before-kep-173=process:old-lws.yaml \
    scenarios/leaderworkerset
  rehearse run --provider existing --kubeconfig ~/.kube/config my-scenario.yaml`,
		Args: cli.Named("a file, folder or glob of scenarios, or - for standard input"),
		RunE: func(command *cobra.Command, paths []string) error {
			return runScenarios(command, paths, what, options)
		},
	}
	what.add(command)
	session.AddTo(command, &options, "folder for the reports and the files of failed scenarios")
	command.Flags().BoolVar(&options.KeepHistory, "history", false,
		"also write the histories of scenarios that pass to the report folder")
	command.Flags().BoolVar(&options.Keep, "keep", false, "keep the clusters, and print how to reach them")
	return command
}

func runScenarios(command *cobra.Command, paths []string, what selection, options harness.Options) error {
	run := session.New(command, options, page.File, paths...)
	defer run.Close()
	plan, err := what.plan(command, paths, options.Keep, run.Progress)
	if err != nil {
		return session.NotStarted(err, []string{options.ReportDir})
	}
	if err := session.Limit(plan, &run.Options, run.Progress); err != nil {
		return err
	}
	run.SayIdle(plan, what.Shard)
	if err := session.RemoveReports([]string{options.ReportDir}); err != nil {
		return err
	}
	if err := run.Start(plan.Result(), what.suites); err != nil {
		return err
	}
	failure := run.RunPlan(plan)
	failure = errors.Join(failure, session.Publish(command, run.Result(), ci.Report{Dir: options.ReportDir}))
	return session.End(reports.ExitCode(run.Result()), failure)
}

func newPlanCommand(all builtin.Suites) *cobra.Command {
	what := selection{suites: all}
	command := &cobra.Command{
		Use:   "plan FILE|FOLDER|GLOB|-...",
		Short: "Show what a run would do, and start nothing",
		Long: `Plan shows which scenarios share a cluster, the first state and the transitions of each cluster, and
skipped scenarios. It finds the same mistakes in scenarios as a run. For a transition it shows the
changes.

Exit codes: 0 it can be run; 2 the input is wrong, or nothing was selected; 3 a host or an existing
cluster cannot be reached.`,
		Example: `  rehearse plan scenarios/kubernetes
  rehearse plan --label 'kep:5311 && !slow:minutes' scenarios`,
		Args: cli.Named("a file, folder or glob of scenarios, or - for standard input"),
		RunE: func(command *cobra.Command, paths []string) error {
			plan, err := what.plan(command, paths, false, cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			if err := plan.Describe(command.OutOrStdout()); err != nil {
				return err
			}
			return describeCreation(command, plan)
		},
	}
	what.add(command)
	return command
}

// describeCreation prints the configurations with which the clusters would be created.
func describeCreation(command *cobra.Command, plan *harness.Plan) error {
	provider, ok := plan.Provider.(clusters.Configurer)
	if !ok {
		return nil
	}
	for _, track := range plan.Tracks {
		config, err := provider.Config(command.Context(), track.Path[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "\n---\n# %s: %s configuration (%s)\n%s", track.Name, plan.Provider.Name(),
			track.Path[0], config)
	}
	return nil
}
