package merge

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/matrix"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

// cells merges matrix.json files, each with the run.json beside it. The merged run decides the status of the cells.
func cells(command *cobra.Command, files []string, out string) error {
	parts, err := each(files, matrices.Read)
	if err != nil {
		return err
	}
	var beside []string
	for _, file := range files {
		beside = append(beside, filepath.Join(filepath.Dir(file), pastruns.RunFile))
	}
	run, unfinished, err := runs(command, beside, out, matrix.PageFile)
	if err != nil {
		return err
	}
	merged, err := matrices.Merge(parts, run)
	if err != nil {
		return err
	}
	if err := matrix.Write(out, merged); err != nil {
		return cli.Broken(err)
	}
	fmt.Fprintf(command.OutOrStdout(), "\n%s", matrices.Text(merged))
	return end(command, run, out, matrix.ExitCode(merged, run), unfinished)
}
