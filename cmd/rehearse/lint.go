package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/scenarios"
)

func newLintCommand() *cobra.Command {
	var strict bool
	command := &cobra.Command{
		Use:   "lint FILE|FOLDER|GLOB...",
		Short: "Check scenario files without a cluster",
		Long: `Lint reads scenarios as strictly as a run does: unknown fields, wrong types and expressions that do not compile are errors, each
with its file:line:column. What is only doubtful is a warning.`,
		Example: `  rehearse lint scenarios/
  rehearse lint --strict my-scenario.yaml`,
		Args: named("a file, a folder or a glob of scenarios"),
		RunE: func(command *cobra.Command, paths []string) error {
			set, err := scenarios.Load(paths)
			if err != nil {
				return err
			}
			warnings := scenarios.Lint(set)
			for _, warning := range warnings {
				fmt.Fprintln(command.ErrOrStderr(), "warning:", warning)
			}
			if strict && len(warnings) > 0 {
				return fmt.Errorf("%d warnings, and --strict was given", len(warnings))
			}
			fmt.Fprintf(command.OutOrStdout(), "%s well formed\n", areScenarios(len(set.Scenarios)))
			return nil
		},
	}
	command.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	return command
}

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a scenario, for editors",
		Example: `  rehearse schema > scenario.schema.json
  # and as a scenario's first line:  # yaml-language-server: $schema=scenario.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := command.OutOrStdout().Write(scenarios.Schema())
			return err
		},
	}
}

// areScenarios is the beginning of a sentence about some of them.
func areScenarios(n int) string {
	if n == 1 {
		return "1 scenario is"
	}
	return fmt.Sprintf("%d scenarios are", n)
}
