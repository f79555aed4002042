package program

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/offline"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

func newLintCommand(all builtin.Suites) *cobra.Command {
	var strict bool
	command := &cobra.Command{
		Use:   "lint FILE|FOLDER|GLOB|-...",
		Short: "Check scenario files without a cluster and without the network",
		Long: `Lint reads scenarios as strictly as a run: unknown fields, wrong types and expressions that do not
compile are errors, each with its file:line:column. It also makes the checks of plan that need no
provider: feature gates that are unknown or locked in a version, or lack a dependency (if the
version's feature list is cached), version skew, and systems with missing files or with webhooks but
no probes. Lint lists what it could not check. Doubtful cases are warnings.

Exit codes: 0 no errors; 2 errors, or warnings with --strict.`,
		Example: `  rehearse lint scenarios/
  rehearse lint --strict my-scenario.yaml`,
		Args: cli.Named("a file, folder or glob of scenarios, or - for standard input"),
		RunE: func(command *cobra.Command, paths []string) error {
			set, err := scenarios.LoadWith(paths, command.InOrStdin())
			if err != nil {
				return err
			}
			warnings := scenarios.Lint(set)
			if !strict {
				warnings = slices.DeleteFunc(warnings, func(p scenarios.Problem) bool { return p.Strict })
			}
			for _, warning := range warnings {
				fmt.Fprintln(command.ErrOrStderr(), "warning:", warning)
			}
			if err := lintStates(command, set.Scenarios, all.Simulators()); err != nil {
				return err
			}
			if strict && len(warnings) > 0 {
				return fmt.Errorf("with --strict, warnings are errors: there are %d", len(warnings))
			}
			fmt.Fprintf(command.OutOrStdout(), "%s well formed\n", areScenarios(len(set.Scenarios)))
			return nil
		},
	}
	command.Flags().BoolVar(&strict, "strict", false,
		"show more warnings (no description, covers no requirement), and treat warnings as errors")
	return command
}

// lintStates finds the mistakes that planning finds. It uses only what is in the cache.
func lintStates(command *cobra.Command, set []*scenarios.Scenario, known simulators.Catalog) error {
	store, err := cli.CachedReleases(nil)
	if err != nil {
		return err
	}
	simulated, err := known.Own()
	if err != nil {
		return err
	}
	provider := offline.New(store)
	_, err = harness.NewPlan(command.Context(), provider, set, harness.PlanOptions{
		Simulators: simulated, Modules: store, Static: true,
	})
	for _, what := range provider.Unchecked() {
		fmt.Fprintln(command.ErrOrStderr(), "not checked:", what)
	}
	return err
}

// areScenarios is the beginning of a sentence about n scenarios.
func areScenarios(n int) string {
	if n == 1 {
		return "1 scenario is"
	}
	return fmt.Sprintf("%d scenarios are", n)
}
