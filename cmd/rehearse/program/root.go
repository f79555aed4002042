// Package program is the command rehearse. A program of your own can run it with more suites.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cluster"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/conformance"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/gates"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/initialize"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/matrix"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/merge"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// Execute runs a command line, and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return cli.ExitOK
	}
	code := cli.CodeOf(err)
	var exit *cli.ExitError
	if errors.As(err, &exit) && exit.Err == nil {
		err = nil
	}
	if ctx.Err() != nil {
		code = cli.ExitInterrupted
	}
	if err != nil {
		fmt.Fprintln(cli.Guarded(stderr), "error:", terminal.Clean(err.Error()))
	}
	return code
}

// New returns the command with its subcommands, for these suites. Its texts name it as it was called: rehearse, or
// kubectl rehearse.
func New(file string, all builtin.Suites) *cobra.Command { return calledAs(newRootCommand(all), file) }

func newRootCommand(all builtin.Suites) *cobra.Command {
	root := &cobra.Command{
		Use:   "rehearse",
		Short: "Rehearse upgrades, rollbacks and rejections on real Kubernetes components",
		Long: `Rehearse shows what an upgrade, a rollback or a feature gate does to Kubernetes objects. It starts a
real control plane, runs your manifests or your scenarios on it, and writes report.html, junit.xml
and a machine-readable result.`,
		Example: `  rehearse upgrade --from 1.35 --to 1.36 -f app/    what an upgrade does to your manifests
  rehearse explore --path 1.35,1.36,1.35 --for 10m  look for what an upgrade and a rollback break
  rehearse init                                     write a first scenario
  rehearse run scenarios/kubernetes                 run every scenario of a folder
  rehearse run --label '!slow:minutes' scenarios    run the scenarios that a label expression selects
  rehearse plan scenarios/kubernetes                show what a run would do
  rehearse fetch 1.34 1.35                          get the Kubernetes programs in advance
  rehearse cluster create --version 1.35            a control plane for experiments, in seconds`,
		Version:       cli.ProgramVersion(),
		SilenceErrors: true, SilenceUsage: true,
		SuggestionsMinimumDistance: 2,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.AddTemplateFunc("versionText", cli.VersionText)
	root.SetVersionTemplate("{{versionText}}")
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, command.CommandPath())
	})
	root.AddCommand(initialize.Command(all.IsSimulator), newRunCommand(all), newPlanCommand(all), newLintCommand(all),
		newSchemaCommand(), conformance.Command(all), newRequirementsCommand(all), newFaultsCommand(all), newFetchCommand(),
		gates.Command(), newNodeImagesCommand(), cluster.Command(), newUpgradeCommand(all), newExploreCommand(all),
		newCaptureCommand(), newReportCommand(), merge.Command(), newJobCommand(all), matrix.Command(all))
	return root
}
