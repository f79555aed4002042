package matrix

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

func diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show which cells of a matrix changed",
		Long: `Diff compares two matrices of a system, cell by cell. Each is a matrix.json or a report folder.

Exit codes: 0 no cell came out worse; 1 a cell did, or a new one failed; 2 the matrices cannot be read
or compared.`,
		Example: `  rehearse matrix diff last/matrix.json rehearse-report/matrix.json`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s: name two matrices", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			var read [2]*matrices.Report
			for i, path := range args {
				var err error
				if read[i], err = readReport(path); err != nil {
					return err
				}
			}
			diff, err := matrices.Compare(read[0], read[1])
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(command.OutOrStdout(), diff); err != nil {
				return cli.Broken(fmt.Errorf("write the difference: %w", err))
			}
			if diff.Worse() > 0 {
				return &cli.ExitError{Code: cli.ExitFailed}
			}
			return nil
		},
	}
}

func readReport(path string) (*matrices.Report, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "matrix.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a matrix: %w", err)
	}
	report, err := matrices.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return report, nil
}
