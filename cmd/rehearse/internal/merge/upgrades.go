package merge

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// upgraded merges upgrade.json files.
func upgraded(command *cobra.Command, files []string, out string) error {
	parts, err := each(files, upgrades.Read)
	if err != nil {
		return err
	}
	merged, err := upgrades.Merge(parts)
	if err != nil {
		return err
	}
	survey.Sort(merged.Findings)
	return finish(command, reports.PiecesOf(parts), out, session.Report[*upgrades.Report]{
		Of: merged, Dir: out, Write: upgrades.Write, Page: page.OfUpgrade, Markdown: upgrades.Markdown, Text: upgrades.TextIn,
	})
}
