package merge

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// explored merges explore.json files.
func explored(command *cobra.Command, files []string, out string) error {
	reports, err := each(files, explorations.Read)
	if err != nil {
		return err
	}
	var parts []explorations.Part
	for i, report := range reports {
		parts = append(parts, explorations.Part{Report: report, From: files[i]})
	}
	merged, err := explorations.Merge(parts)
	if err != nil {
		return err
	}
	fmt.Fprint(command.OutOrStdout(), explorations.Text(merged))
	return session.Report[*explorations.Report]{
		Of: merged, Dir: out, Write: explorations.Write, Page: page.OfExploration, Markdown: explorations.Markdown,
	}.Finish(command, explorations.Unfinished(parts))
}
