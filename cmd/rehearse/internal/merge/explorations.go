package merge

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// explored merges explore.json files.
func explored(command *cobra.Command, files []string, out string) error {
	parts, err := each(files, explorations.Read)
	if err != nil {
		return err
	}
	merged, err := explorations.Merge(parts)
	if err != nil {
		return err
	}
	return finish(command, reports.PiecesOf(parts), out, session.Report[*explorations.Report]{
		Of: merged, Dir: out, Write: explorations.Write, Page: page.OfExploration, Markdown: explorations.Markdown,
		Text: explorations.TextIn,
	})
}
