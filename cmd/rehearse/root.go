package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Exit codes; a scenario's own are in reports.ExitCode.
const (
	exitOK          = 0
	exitFailed      = 1
	exitInput       = 2
	exitBroken      = 3
	exitInterrupted = 130
)

// exitError carries an exit code other than that of wrong input.
type exitError struct {
	code int
	err  error // nil: all has been said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// broken marks an error as the cluster's or the harness's, not the input's.
func broken(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitBroken, err: err}
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitInput
	if errors.Is(err, clusters.ErrUnreachable) {
		code = exitBroken
	}
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
		if exit.err == nil {
			err = nil
		}
	}
	if ctx.Err() != nil {
		code = exitInterrupted
	}
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
	}
	return code
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "rehearse",
		Short: "Rehearse upgrades, rollbacks and refusals on real Kubernetes components",
		Long: `Rehearse brings up a Kubernetes cluster in a named state, replays scenarios against it (upgrades and
rollbacks, writes that must be refused, what must come true), and says in JUnit what held and what
broke.`,
		Example: `  rehearse init                                     write a scenario to begin with
  rehearse run scenarios/kubernetes                 run every scenario of a folder
  rehearse run --label '!slow:minutes' scenarios    run what a label expression selects
  rehearse plan scenarios/kubernetes                show what would be done, start nothing
  rehearse fetch 1.34 1.35                          get the Kubernetes programs beforehand
  rehearse cluster create --version 1.35            a control plane to play with, in seconds`,
		Version:       programVersion(),
		SilenceErrors: true, SilenceUsage: true,
		SuggestionsMinimumDistance: 2,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.AddTemplateFunc("versionText", versionText)
	root.SetVersionTemplate("{{versionText}}")
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, command.CommandPath())
	})
	root.AddCommand(newInitCommand(), newRunCommand(), newPlanCommand(), newLintCommand(), newSchemaCommand(),
		newConformanceCommand(), newRequirementsCommand(), newFaultsCommand(), newFetchCommand(), newGatesCommand(),
		newNodeImagesCommand(),
		newClusterCommand(), newUpgradeCommand(), newExploreCommand(), newCaptureCommand(), newReportCommand(),
		newMergeCommand())
	return root
}

// progressTo prints each line of progress at once.
func progressTo(w io.Writer) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
}

// isTerminal says whether a person looks at what is written, or types what is read.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(file.Fd()))
}

// named wants at least one argument, and says what it would be.
func named(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: name %s; see %s --help", command.CommandPath(), what, command.CommandPath())
		}
		return nil
	}
}
