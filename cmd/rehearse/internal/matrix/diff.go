package matrix

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

func diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show which cells of a matrix changed",
		Long: `Diff compares two matrices of a system, cell by cell. Each is a matrix.json or a report folder, of a
whole matrix: shards must be merged first.

A cell is "no longer judged" if it had a verdict and has none. This includes a cell whose scenario
was deleted, but not a cell whose version is no longer part of the matrix.

Exit codes: 0 no cell came out worse; 1 a cell did, is no longer judged, or a new one failed; 2 the
matrices cannot be read or compared.`,
		Example: `  rehearse matrix diff last/matrix.json rehearse-report/matrix.json`,
		Args:    cli.Two("matrices"),
		RunE: cli.Comparison[*matrices.Report, *matrices.Diff]{
			Read: readReport, Compare: matrices.Compare,
			Fails: func(diff *matrices.Diff) bool { return diff.Count(matrices.Worse, matrices.Lost) > 0 },
		}.Run,
	}
}

func readReport(path string) (*matrices.Report, error) {
	if cli.IsFolder(path) {
		path = filepath.Join(path, matrices.File)
	}
	return cli.Read("a matrix", path, matrices.Read)
}
