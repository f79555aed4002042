package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

func newConformanceDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Say what changed between two conformance reports",
		Long: `Diff compares two ConformanceReports (YAML) of one suite, of two implementations or of two versions
of one, requirement by requirement.

Exit codes: 0 every requirement came out alike; 1 some did not; 2 the reports cannot be read or
compared.`,
		Example: `  rehearse conformance diff v1.yaml v2.yaml`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s: name two reports", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			var read [2]*conformances.Report
			for i, path := range args {
				data, err := os.ReadFile(path)
				if err != nil {
					return fmt.Errorf("reading a conformance report: %w", err)
				}
				if read[i], err = conformances.Read(data); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
			diff, err := conformances.Compare(read[0], read[1])
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(command.OutOrStdout(), diff); err != nil {
				return cli.Broken(fmt.Errorf("write the difference: %w", err))
			}
			if !diff.Same() {
				return &cli.ExitError{Code: cli.ExitFailed}
			}
			return nil
		},
	}
}
