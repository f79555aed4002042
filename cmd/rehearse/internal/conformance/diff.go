package conformance

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports/conformances"
)

func diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two conformance reports",
		Long: `Diff compares two ConformanceReports (YAML) of the same suite, requirement by requirement: of two
implementations, or of two versions of one.

Exit codes: 0 all requirements have the same result; 1 some differ; 2 the reports cannot be read or
compared.`,
		Example: `  rehearse conformance diff v1.yaml v2.yaml`,
		Args:    cli.Two("reports"),
		RunE: cli.Comparison[*conformances.Report, *conformances.Diff]{
			Read: readReport, Compare: conformances.Compare,
			Fails: func(diff *conformances.Diff) bool { return !diff.Same() },
		}.Run,
	}
}

func readReport(path string) (*conformances.Report, error) {
	return cli.Read("a conformance report", path, conformances.Read)
}
